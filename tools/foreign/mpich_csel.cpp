// From JSON to a tree of tests, with what MPICH refuses.
#include "foreign/mpich_csel.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace circoll::foreign::mpich {
namespace {

struct Word {
  std::string_view key;
  Test test;
  std::int32_t value;
};

constexpr std::array<Word, 19> words{{
    {"comm_type=intra", Test::intra, 1},
    {"comm_type=inter", Test::inter, 1},
    {"comm_size=pow2", Test::size_pow2, 1},
    {"comm_size=node_comm_size", Test::size_node, 1},
    {"count<pow2", Test::count_pow2, 1},
    {"is_multi_threaded=yes", Test::threaded, 1},
    {"is_multi_threaded=no", Test::threaded, 0},
    {"is_commutative=yes", Test::commutative, 1},
    {"is_commutative=no", Test::commutative, 0},
    {"is_op_built_in=yes", Test::built_in, 1},
    {"is_op_built_in=no", Test::built_in, 0},
    {"is_sendbuf_inplace=yes", Test::in_place, 1},
    {"is_sendbuf_inplace=no", Test::in_place, 0},
    {"is_block_regular=yes", Test::regular, 1},
    {"is_block_regular=no", Test::regular, 0},
    {"is_node_consecutive=yes", Test::consecutive, 1},
    {"is_node_consecutive=no", Test::consecutive, 0},
    {"comm_hierarchy=any", Test::hierarchy, 1},
    {"any", Test::any, 0},
}};

struct Bound {
  std::string_view start;
  Test test;
};

// Longer starts first: "x<=" begins with "x<".
constexpr std::array<Bound, 9> bounds{{
    {"comm_size<=", Test::size_le},
    {"comm_size<", Test::size_lt},
    {"comm_avg_ppn<=", Test::ppn_le},
    {"comm_avg_ppn<", Test::ppn_lt},
    {"count<=", Test::count_le},
    {"avg_msg_size<=", Test::average_le},
    {"avg_msg_size<", Test::average_lt},
    {"total_msg_size<=", Test::total_le},
    {"total_msg_size<", Test::total_lt},
}};

constexpr std::array<std::string_view, 4> old_any{"comm_size=any", "avg_msg_size=any", "total_msg_size=any",
                                                  "count=any"};

/// The number that atoi makes of a text; glibc cuts what is too large to 32 bits.
Condition read_bound(Test test, std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (error == std::errc::result_out_of_range || value > most) value = most;
  Condition result{.test = test};
  result.exact = end != digits.data() && end == digits.data() + digits.size() &&
                 value <= static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
  result.value = static_cast<std::int32_t>(static_cast<std::uint32_t>(negative ? -value : value));
  return result;
}

std::string without_blanks(std::string_view key) {
  std::string result;
  std::ranges::copy_if(key, std::back_inserter(result), [](char c) { return c != ' '; });
  return result;
}

/// Makes nodes of a tree, until MPICH would end the program.
class Maker {
 public:
  explicit Maker(Version version) { selection_.version = version; }

  SelectionTree make(const Tree& tree) {
    selection_.root = chain(tree);
    if (selection_.root < 0) refuse(tree.line, "there is no tree in it, and MPICH uses memory that nobody has set");
    return std::move(selection_);
  }

 private:
  void refuse(std::size_t line, const std::string& why) {
    warn(line, why);
    if (selection_.refusal.empty()) selection_.refusal = why;
  }
  void warn(std::size_t line, const std::string& what) { selection_.warnings.push_back({line, what}); }

  /// The members as json-c keeps them: a repeated key keeps its first place, with its last value.
  std::vector<const Tree*> members_of(const Tree& tree) {
    std::vector<const Tree*> members;
    for (const Tree& member : tree.members) {
      const auto same = std::ranges::find_if(members, [&](const Tree* m) { return m->key == member.key; });
      if (same == members.end()) {
        members.push_back(&member);
        continue;
      }
      warn(member.line, "'" + member.key + "' stands in line " + std::to_string((*same)->line) +
                            ", too: what it says there is dropped, and this takes its place");
      *same = &member;
    }
    return members;
  }

  int chain(const Tree& tree) {
    int first = -1;
    int before = -1;
    const std::vector<const Tree*> members = members_of(tree);
    for (const Tree* member : members) {
      if (member->scalar)
        refuse(member->line, "the value of '" + member->key + "' is no object: MPI_Init ends the program");
      Condition condition = condition_of(member->key, selection_.version);
      if (condition.test == Test::leaf) return leaf_of(*member, members);
      const int node = static_cast<int>(selection_.nodes.size());
      selection_.nodes.push_back({.condition = condition, .key = member->key, .line = member->line});
      if (condition.test == Test::unknown)
        refuse(member->line, "'" + member->key + "' is no test of MPICH " + std::string(to_string(selection_.version)) +
                                 ": MPI_Init ends the program");
      if (condition.test == Test::collective && !is_collective(condition.word))
        refuse(member->line, "'" + condition.word + "' is no collective in the tree: MPI_Init ends the program");
      if (!condition.exact) warn_of_number(*member, condition);
      const int success = chain(*member);
      selection_.nodes[static_cast<std::size_t>(node)].success = success;
      if (success < 0 && condition.test != Test::unknown)
        refuse(member->line, "nothing stands under '" + member->key + "': MPI_Init ends the program");
      (before < 0 ? first : selection_.nodes[static_cast<std::size_t>(before)].failure) = node;
      if (before >= 0 && selection_.at(before).condition.test == Test::any)
        refuse(member->line, "'" + member->key + "' follows '" + selection_.at(before).key +
                                 "', which must be the last: MPI_Init ends the program");
      before = node;
    }
    if (before >= 0) check_end(before);
    return first;
  }

  /// A chain may end in a test of yes and no, but not in one of numbers.
  void check_end(int last) {
    const Node& node = selection_.at(last);
    const Test test = node.condition.test;
    const bool of_numbers =
        (test >= Test::size_le && test <= Test::ppn_lt) || (test >= Test::average_le && test <= Test::count_pow2);
    if (!of_numbers) return;
    refuse(node.line,
           "'" + node.key + "' is the last of its object, where '...=any' must follow: MPI_Init ends the program");
  }

  void warn_of_number(const Tree& member, const Condition& condition) {
    warn(member.line, "the number in '" + member.key + "' is read as " + std::to_string(condition.value) +
                          ": MPICH knows digits only, and no number above 2147483647");
  }

  static bool is_collective(std::string_view word) {
    const auto known = tree_collectives();
    return std::ranges::find(known, word) != known.end();
  }

  int leaf_of(const Tree& member, const std::vector<const Tree*>& members) {
    const int node = static_cast<int>(selection_.nodes.size());
    Node made{.condition = condition_of(member.key, selection_.version), .key = member.key, .line = member.line};
    for (const Tree& parameter : member.members) {
      const std::string text = without_blanks(parameter.key);
      const std::size_t equal = std::min(text.find('='), text.size());
      made.parameters.emplace_back(text.substr(0, equal), equal < text.size() ? text.substr(equal + 1) : "");
    }
    for (const Tree* other : members) {
      if (other != &member)
        refuse(other->line, "'" + other->key + "' stands beside an algorithm: MPI_Init ends the program");
    }
    if (!is_known(made.condition.word, selection_.version))
      refuse(member.line, "MPICH " + std::string(to_string(selection_.version)) + " has no algorithm '" +
                              made.condition.word + "': MPI_Init ends the program");
    selection_.nodes.push_back(std::move(made));
    return node;
  }

  SelectionTree selection_{};
};

double visits(const SelectionTree& selection, int node) {
  double all = 0;
  for (; node >= 0; node = selection.at(node).failure) {
    all += 1;
    if (selection.at(node).success >= 0) all += 2 * visits(selection, selection.at(node).success);
  }
  return all;
}

}  // namespace

Condition condition_of(std::string_view text, Version version) {
  const std::string key = without_blanks(text);
  const auto after = [&](std::string_view start) { return key.substr(start.size()); };
  for (const std::string_view start : {"algorithm=", "composition="}) {
    if (key.starts_with(start)) return {.test = Test::leaf, .word = after(start)};
  }
  if (key.starts_with("collective=")) return {.test = Test::collective, .word = after("collective=")};
  if (key == "comm_hierarchy=any") return {.test = Test::hierarchy, .value = 1, .word = "any", .any_hierarchy = true};
  const bool any = version == Version::v4_0 ? std::ranges::find(old_any, key) != old_any.end()
                                            : key == "any" || key.ends_with("=any");
  if (any) return {.test = Test::any, .word = key};
  for (const std::string_view kind : {"parent", "node_roots", "node", "flat"}) {
    if (key == "comm_hierarchy=" + std::string(kind)) return {.test = Test::hierarchy, .word = std::string(kind)};
  }
  for (const Word& word : words) {
    if (key == word.key && word.test != Test::any) return {.test = word.test, .value = word.value};
  }
  for (const Bound& bound : bounds) {
    if (!key.starts_with(bound.start)) continue;
    if (bound.test == Test::ppn_lt && version == Version::v4_0) break;
    return read_bound(bound.test, std::string_view(key).substr(bound.start.size()));
  }
  return {};
}

std::string_view name_of(Test test) {
  const auto name = [](std::string_view key) { return key.substr(0, key.find_first_of("<=")); };
  for (const Word& word : words) {
    if (word.test == test) return name(word.key);
  }
  for (const Bound& bound : bounds) {
    if (bound.test == test) return name(bound.start);
  }
  return {};
}

bool is_of_communicator(Test test) { return test >= Test::intra && test <= Test::consecutive; }

SelectionTree make_selection(const Tree& tree, Version version) { return Maker(version).make(tree); }

double validation_visits(const SelectionTree& selection) { return visits(selection, selection.root); }

}  // namespace circoll::foreign::mpich
