// Warnings about MPICH's trees: what reads well and does something else.
#include "foreign/mpich_csel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace circoll::foreign::mpich {
namespace {

/// The test that stands for all tests of the same number, or the same yes or no. Others are unknown.
Test subject_of(const Condition& condition) {
  switch (condition.test) {
    case Test::size_lt:
      return Test::size_le;
    case Test::ppn_lt:
      return Test::ppn_le;
    case Test::average_lt:
      return Test::average_le;
    case Test::total_lt:
      return Test::total_le;
    case Test::hierarchy:
      return condition.word == "parent" ? Test::hierarchy : Test::unknown;
    case Test::leaf:
    case Test::collective:
    case Test::intra:
    case Test::inter:
    case Test::any:
      return Test::unknown;
    default:
      return condition.test;
  }
}

bool is_number(Test subject) {
  return subject == Test::size_le || subject == Test::ppn_le || subject == Test::average_le ||
         subject == Test::total_le || subject == Test::count_le;
}

/// The values of a subject that reach a place; 0 and 1 are no and yes.
struct PassedValues {
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// The values of all subjects that reach a place.
struct Reached {
  std::array<PassedValues, static_cast<std::size_t>(Test::any)> values{};  ///< by subject
  bool message_tested = false;
  bool inter = false;
  bool dead = false;

  Reached() {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!is_number(static_cast<Test>(i))) values.at(i).most = 1;
    }
  }
  PassedValues& of(Test subject) { return values.at(static_cast<std::size_t>(subject)); }
  [[nodiscard]] bool is(Test subject, std::int64_t value) const {
    const PassedValues& interval = values.at(static_cast<std::size_t>(subject));
    return interval.least == value && interval.most == value;
  }
};

class Lint {
 public:
  explicit Lint(const SelectionTree& selection) : selection_(selection) {}

  [[nodiscard]] bool ends() const { return ends_; }

  std::vector<Warning> run() {
    std::vector<std::string_view> missing;
    for (const std::string_view name : tree_collectives()) {
      const auto is_it = [&](const Node& node) {
        return node.condition.test == Test::collective && node.condition.word == name;
      };
      if (std::ranges::none_of(selection_.nodes, is_it)) missing.push_back(name);
    }
    if (!missing.empty()) {
      std::string names;
      for (const std::string_view name : missing) names += (names.empty() ? "" : ", ") + std::string(name);
      warn(0, "the file takes the place of the whole tree, and has none for: " + names +
                  ". The first call of one ends the program");
    }
    chain(selection_.root, Reached{});
    std::ranges::stable_sort(warnings_, {}, &Warning::line);
    return std::move(warnings_);
  }

 private:
  void warn(std::size_t line, const std::string& text) { warnings_.push_back({line, text}); }
  void note(std::size_t line, const std::string& text) { warnings_.push_back({line, text, false}); }

  void chain(int first, Reached reached) {
    bool inter = false;
    bool intra = false;
    int last = -1;
    for (int node = first; node >= 0; node = selection_.at(node).failure) {
      last = node;
      const Node& n = selection_.at(node);
      if (reached.dead) note(n.line, "'" + n.key + "' is never reached: the tests before it take all calls");
      if (n.condition.test == Test::leaf) {
        if (!reached.dead) leaf(n, reached);
        return;
      }
      inter = inter || n.condition.test == Test::inter;
      intra = intra || n.condition.test == Test::intra;
      if (n.condition.test == Test::collective) collective_ = n.condition.word;
      check_test(n, reached);
      descend(n, reached);
      // Collectives and kinds of communicators are told apart before calls are.
      const bool apart =
          n.condition.test == Test::collective || n.condition.test == Test::intra || n.condition.test == Test::inter;
      if (!apart) narrow(n, reached, false);
    }
    if (last < 0 || selection_.at(last).condition.test == Test::collective || reached.dead) return;
    if (intra && !inter) {
      note(selection_.at(last).line, "calls on intercommunicators find no algorithm here, and end the program");
    } else if (intra == inter ? !intra : inter) {
      ends_ = true;
      warn(selection_.at(last).line,
           "calls for which '" + selection_.at(last).key + "' does not hold find no algorithm, and end the program");
    }
  }

  void descend(const Node& n, const Reached& reached) {
    Reached below = reached;
    below.dead = false;
    below.inter = below.inter || n.condition.test == Test::inter;
    narrow(n, below, true);
    if (below.dead && !reached.dead) note(n.line, "'" + n.key + "' never holds after the tests before it");
    const bool was_dead = below.dead;
    below.dead = was_dead || reached.dead;
    const bool message =
        !is_of_communicator(n.condition.test) && n.condition.test != Test::collective &&
        !(n.condition.test == Test::any && (n.condition.word == "comm_size=any" || selection_.version > Version::v4_0));
    below.message_tested = below.message_tested || message;
    if (!below.dead) chain(n.success, below);
  }

  /// The values that reach what follows a test: where it holds, or where it does not.
  void narrow(const Node& n, Reached& reached, bool holds) const {
    const bool takes_all = n.condition.test == Test::any || n.condition.any_hierarchy;
    if (takes_all) {
      reached.dead = reached.dead || !holds;
      return;
    }
    if (!is_of_communicator(n.condition.test) && n.condition.test != Test::collective) reached.message_tested = true;
    const Test subject = subject_of(n.condition);
    if (subject == Test::unknown) return;
    PassedValues& interval = reached.of(subject);
    if (is_number(subject)) {
      const bool strict = n.condition.test == Test::ppn_lt || n.condition.test == Test::average_lt ||
                          n.condition.test == Test::total_lt ||
                          (n.condition.test == Test::size_lt && !reached.message_tested);
      const std::int64_t most = n.condition.value - (strict ? 1 : 0);
      if (holds) interval.most = std::min(interval.most, most);
      if (!holds) interval.least = std::max(interval.least, most + 1);
    } else {
      const bool wanted = n.condition.test == Test::hierarchy || n.condition.value != 0;
      const std::int64_t value = wanted == holds ? 1 : 0;
      interval.least = std::max(interval.least, value);
      interval.most = std::min(interval.most, value);
    }
    reached.dead = reached.dead || interval.least > interval.most;
  }

  void check_test(const Node& n, const Reached& reached) {
    const Test test = n.condition.test;
    if (test != Test::collective && !is_defined(test, collective_)) {
      ends_ = true;
      warn(n.line, "'" + n.key + "' is not defined for " + collective_ + ": the call that comes here ends the program");
    }
    if (test == Test::size_lt && reached.message_tested)
      note(n.line, "'" + n.key + "' below a test of messages or operators is read as <=; write comm_size<=N");
    const std::string_view plain = blocking_name(collective_);
    const bool total = test == Test::total_le || test == Test::total_lt;
    if (total && !reached.inter && (plain == "gather" || plain == "scatter"))
      warn(n.line, "total_msg_size counts elements for " + collective_ +
                       ", not bytes, and reads arguments that only some ranks must give: ranks may choose differently");
    if (total && collective_ == "ireduce_scatter_block")
      note(n.line, "total_msg_size counts elements for ireduce_scatter_block, not bytes");
    if (total && (plain == "alltoallv" || plain == "alltoallw"))
      warn(n.line,
           "total_msg_size is each rank's own sum for " + collective_ + ": ranks may choose differently, and hang");
    const bool size = total || test == Test::average_le || test == Test::average_lt;
    if (size && plain == "alltoall" && !reached.is(Test::in_place, 0))
      warn(n.line, "'" + n.key +
                       "' reads the send type also of calls in place, which need not give one; test "
                       "is_sendbuf_inplace before");
  }

  void leaf(const Node& n, const Reached& reached) {
    const std::string& name = n.condition.word;
    if (!is_known(name, selection_.version)) return;
    const std::string owner = collective_of(name);
    if (owner != collective_) warn(n.line, name + " is no algorithm of " + collective_ + ": the call ends the program");
    if (name == "MPIR_Allreduce_intra_ccl") warn(n.line, name + " needs a library for accelerators");
    // Calls without data, and those of intercommunicators, have no such needs.
    const bool empty = reached.values.at(static_cast<std::size_t>(Test::average_le)).most <= 0;
    const Needs needs = empty || reached.inter ? Needs{} : needs_of(name);
    std::string missing;
    const auto miss = [&](bool needed, bool tested, std::string_view text) {
      if (needed && !tested) missing += (missing.empty() ? "" : ", ") + std::string(text);
    };
    miss(needs.commutative && !needs.built_in, reached.is(Test::commutative, 1) || reached.is(Test::built_in, 1),
         "operators that do not commute (is_commutative=no)");
    miss(needs.built_in, reached.is(Test::built_in, 1), "operators of programs (is_op_built_in=no)");
    miss(needs.power_of_two, reached.is(Test::size_pow2, 1),
         "other numbers of ranks than powers of two (comm_size=pow2)");
    miss(needs.count_for_each, reached.is(Test::count_pow2, 0), "less than an element for each rank (count<pow2)");
    miss(needs.regular, reached.is(Test::regular, 1), "blocks of several sizes (is_block_regular=no)");
    miss(needs.not_in_place, reached.is(Test::in_place, 0), "calls in place (is_sendbuf_inplace=yes)");
    miss(needs.in_place, reached.is(Test::in_place, 1), "calls that are not in place (is_sendbuf_inplace=no)");
    miss(needs.hierarchy, reached.is(Test::hierarchy, 1), "communicators of one rank per node (comm_hierarchy)");
    miss(needs.consecutive, reached.is(Test::consecutive, 1),
         "nodes whose ranks do not follow one another "
         "(is_node_consecutive=no)");
    if (!missing.empty())
      warn(n.line, name + " is called without a check, and is wrong for what also comes here: " + missing);
    parameters(n);
  }

  void parameters(const Node& n) {
    const std::string why = unsettable(n.condition.word, selection_.version);
    if (!why.empty()) {
      warn(n.line, n.condition.word + ": " + why);
      return;
    }
    std::string missing;
    const auto known = parameters_of(n.condition.word, selection_.version);
    for (const Parameter& parameter : known) {
      const auto is_it = [&](const auto& given) { return given.first == parameter.name; };
      if (std::ranges::none_of(n.parameters, is_it))
        missing += (missing.empty() ? "" : ", ") + std::string(parameter.name);
    }
    if (!missing.empty())
      warn(n.line,
           n.condition.word + " takes its " + missing + " from memory that nobody has set: give it in the leaf");
    for (const auto& [key, value] : n.parameters) {
      const auto is_it = [&name = key](const Parameter& parameter) { return parameter.name == name; };
      if (std::ranges::none_of(known, is_it))
        warn(n.line, n.condition.word + " has no parameter '" + key + "': it is dropped in silence");
      if (key == "tree_type") tree_type(n, value);
    }
  }

  void tree_type(const Node& n, const std::string& value) {
    const bool digits = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
    if (value == "kary" || digits == numbered_trees(selection_.version)) return;
    warn(n.line, "tree_type is a " + std::string(digits ? "word" : "number") + " in MPICH " +
                     std::string(to_string(selection_.version)) + ": '" + value + "' means kary");
  }

  const SelectionTree& selection_;
  std::string collective_{};
  bool ends_ = false;
  std::vector<Warning> warnings_{};
};

}  // namespace

std::vector<Warning> lint(const SelectionTree& selection) { return Lint(selection).run(); }

bool ends_calls(const SelectionTree& selection) {
  Lint lint(selection);
  (void)lint.run();
  return lint.ends();
}

std::vector<std::string> wrong_calls(const Needs& needs, const Call& call) {
  std::vector<std::string> wrong;
  const auto p = static_cast<std::uint64_t>(std::max<Rank>(call.ranks, 1));
  const Count elements = call.bytes / std::max<Count>(call.element_bytes, 1);
  if (needs.commutative && !call.commutative) wrong.emplace_back("the operator does not commute");
  if (needs.built_in && !call.predefined_op) wrong.emplace_back("the operator is the program's own");
  if (needs.power_of_two && !std::has_single_bit(p)) wrong.emplace_back("the number of ranks is no power of two");
  if (needs.count_for_each && elements < static_cast<Count>(std::bit_floor(p)))
    wrong.emplace_back("there is less than an element for each rank");
  if (needs.not_in_place && call.in_place) wrong.emplace_back("the call is in place");
  if (needs.in_place && !call.in_place) wrong.emplace_back("the call is not in place");
  const bool spread = call.nodes >= call.ranks;
  if (needs.hierarchy && spread) wrong.emplace_back("no node has several ranks");
  if (needs.consecutive && spread) wrong.emplace_back("no node has several ranks that follow one another");
  return wrong;
}

}  // namespace circoll::foreign::mpich
