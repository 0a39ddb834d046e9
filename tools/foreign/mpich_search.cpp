// The search in a tree, as MPIR_Csel_prune and MPIR_Csel_search do it together.
#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "foreign/mpich_csel.hpp"

namespace circoll::foreign::mpich {
namespace {

using NameList = std::initializer_list<std::string_view>;

bool one_of(std::string_view name, NameList names) { return std::ranges::find(names, name) != names.end(); }

/// A product, or the greatest number if it is greater.
Count times(Count a, Count b) {
  Count product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<Count>::max() : product;
}

class Search {
 public:
  Search(const SelectionTree& selection, const Question& question)
      : selection_(selection), call_(question.call), collective_(question.collective) {}

  Found run() {
    const int tree = tree_of_collective();
    if (!found_.end.empty()) return std::move(found_);
    if (tree < 0) {
      found_.end = "there is no tree for " + collective_;
      return std::move(found_);
    }
    const int pruned = prune(tree);
    for (int node = pruned; node >= 0;) {
      const Node& n = selection_.at(node);
      if (n.condition.test == Test::leaf) {
        found_.node = node;
        return std::move(found_);
      }
      const std::optional<bool> holds = test(n.condition, false);
      if (!holds) {
        found_.end = std::string(name_of(n.condition.test)) + " (line " + std::to_string(n.line) +
                     ") is not defined for " + collective_;
        return std::move(found_);
      }
      if (*holds) found_.path.push_back(node);
      node = *holds ? n.success : n.failure;
    }
    found_.end = "no test holds, and nothing is tried again";
    return std::move(found_);
  }

 private:
  /// The tree under the collective's name; of several the last, since each overwrites the one before.
  int tree_of_collective() {
    int node = prune(selection_.root);
    found_.path.clear();
    int tree = -1;
    for (; node >= 0; node = selection_.at(node).failure) {
      const Node& n = selection_.at(node);
      if (n.condition.test != Test::collective) {
        found_.end = "'" + n.key + "' (line " + std::to_string(n.line) + ") stands where a collective must";
        return -1;
      }
      if (n.condition.word == collective_) tree = n.success;
    }
    return tree;
  }

  /// The tests of the communicator, until one of messages. If they run out MPICH starts again from the first.
  int prune(int root) {
    for (int node = root; node >= 0;) {
      const Node& n = selection_.at(node);
      const bool comm_any =
          n.condition.test == Test::any && (selection_.version > Version::v4_0 || n.condition.word == "comm_size=any");
      if (!is_of_communicator(n.condition.test) && !comm_any) return node;
      const bool holds = test(n.condition, true).value_or(false);
      if (holds) found_.path.push_back(node);
      node = holds ? n.success : n.failure;
    }
    found_.path.clear();
    return root;
  }

  std::optional<bool> test(const Condition& condition, bool at_creation) {
    const Test kind = condition.test;
    if (kind != Test::any && !is_of_communicator(kind) && !is_defined(kind, collective_)) return std::nullopt;
    const bool yes = condition.value != 0;
    switch (kind) {
      case Test::any:
      case Test::intra:
        return true;
      case Test::size_le:
        return call_.ranks <= condition.value;
      case Test::size_lt:  // at creation as it is written, later not
        return at_creation ? call_.ranks < condition.value : call_.ranks <= condition.value;
      case Test::size_node:
        return call_.nodes == 1 && call_.ranks > 1;
      case Test::size_pow2:
        return std::has_single_bit(static_cast<std::uint64_t>(call_.ranks));
      case Test::ppn_le:
        return call_.ranks <= times(condition.value, call_.nodes);
      case Test::ppn_lt:
        return call_.ranks < times(condition.value, call_.nodes);
      case Test::hierarchy:
        return hierarchy(condition);
      case Test::consecutive:
        note("ranks of a node are taken to follow one another");
        return (call_.nodes < call_.ranks) == yes;
      case Test::threaded:
        note("the program is taken to have been started without MPI_THREAD_MULTIPLE");
        return !yes;
      case Test::regular:
        note("blocks are taken to be of one size");
        return yes;
      case Test::collective:
        return condition.word == collective_;
      case Test::commutative:
        return call_.commutative == yes;
      case Test::built_in:
        return call_.predefined_op == yes;
      case Test::in_place:
        return call_.in_place == yes;
      default:
        return bound(condition);
    }
  }

  std::optional<bool> bound(const Condition& condition) {
    switch (condition.test) {
      case Test::average_le:
        return average() <= condition.value;
      case Test::average_lt:
        return average() < condition.value;
      case Test::total_le:
        return total() <= condition.value;
      case Test::total_lt:
        return total() < condition.value;
      case Test::count_le:
        return count() <= condition.value;
      case Test::count_pow2:
        return count() < static_cast<Count>(std::bit_floor(static_cast<std::uint64_t>(std::max<Rank>(call_.ranks, 1))));
      default:
        return false;
    }
  }

  [[nodiscard]] bool hierarchy(const Condition& condition) const {
    if (condition.any_hierarchy) return true;
    // A user's communicator is a parent, or flat; from 4.1 on the other names mean: not a parent.
    const bool parent = call_.nodes < call_.ranks;
    if (condition.word == "parent") return parent;
    return !parent && (selection_.version > Version::v4_0 || condition.word == "flat");
  }

  [[nodiscard]] std::string_view plain() const { return blocking_name(collective_); }

  Count average() {
    note_size_in_place();
    return plain() == "alltoall" ? call_.bytes / std::max<Rank>(call_.ranks, 1) : call_.bytes;
  }

  Count total() {
    note_size_in_place();
    if (one_of(plain(), {"allreduce", "bcast", "reduce"})) return times(call_.bytes, call_.ranks);
    if (one_of(plain(), {"gather", "scatter"}) || collective_ == "ireduce_scatter_block") {
      note("total_msg_size counts elements here, not bytes");
      return call_.bytes / std::max<Count>(call_.element_bytes, 1);
    }
    if (one_of(plain(), {"alltoallv", "alltoallw"}))
      note("total_msg_size is each rank's own sum: ranks may choose differently, and hang");
    return call_.bytes;
  }

  [[nodiscard]] Count count() const {
    const Count elements = call_.bytes / std::max<Count>(call_.element_bytes, 1);
    return one_of(plain(), {"allgather", "reduce_scatter_block"}) ? elements / std::max<Rank>(call_.ranks, 1)
                                                                  : elements;
  }

  void note_size_in_place() {
    if (call_.in_place && plain().starts_with("alltoall"))
      note("in place the size of the send type is tested, which the call need not give");
  }

  void note(const std::string& text) {
    if (std::ranges::find(found_.notes, text) == found_.notes.end()) found_.notes.push_back(text);
  }

  const SelectionTree& selection_;
  const Call& call_;
  const std::string& collective_;
  Found found_{};
};

}  // namespace

Found search(const SelectionTree& selection, const Question& question) { return Search(selection, question).run(); }

std::string_view blocking_name(std::string_view collective) {
  return collective.starts_with('i') ? collective.substr(1) : collective;
}

bool is_defined(Test test, std::string_view collective) {
  const std::string_view plain = blocking_name(collective);
  switch (test) {
    case Test::average_le:
    case Test::average_lt:
      return one_of(plain, {"allreduce", "bcast", "reduce", "alltoall"});
    case Test::total_le:
    case Test::total_lt:
      return one_of(plain, {"allreduce", "bcast", "reduce", "alltoall", "alltoallv", "alltoallw", "allgather",
                            "allgatherv", "gather", "scatter", "reduce_scatter", "reduce_scatter_block"});
    case Test::count_le:
    case Test::count_pow2:
      return collective != "ibcast" && one_of(plain, {"bcast", "allreduce", "reduce", "allgather", "allgatherv",
                                                      "reduce_scatter", "reduce_scatter_block"});
    case Test::commutative:
      return one_of(plain, {"allreduce", "reduce", "reduce_scatter", "reduce_scatter_block"});
    case Test::built_in:
      return one_of(plain, {"allreduce", "reduce"});
    case Test::in_place:
      return one_of(plain, {"alltoall", "alltoallv", "alltoallw"});
    case Test::regular:
      return plain == "reduce_scatter";
    default:
      return true;
  }
}

}  // namespace circoll::foreign::mpich
