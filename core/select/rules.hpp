// The rules of a rules file (docs/admin/rules.md) as they have been read and checked, for the policy and for exporters.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/select.hpp"

namespace circoll::select {

/// From `from`, included, to `to`, excluded.
struct ValueRange {
  std::int64_t from = 0;
  std::int64_t to = 0;
  [[nodiscard]] bool holds(std::int64_t value) const { return value >= from && value < to; }
  [[nodiscard]] bool empty() const { return from >= to; }
};
inline constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

/// The kinds of operators that can be: idempotent ones commute.
struct OpKind {
  bool commutative;
  bool exact;
  bool idempotent;
};
inline constexpr std::array<OpKind, 6> op_kinds{{{true, true, true},
                                                 {true, false, true},
                                                 {true, true, false},
                                                 {true, false, false},
                                                 {false, true, false},
                                                 {false, false, false}}};
using OpSet = unsigned;  ///< a bit for each of op_kinds
inline constexpr OpSet all_ops = (1U << op_kinds.size()) - 1;

/// The choice that a rule makes.
struct Use {
  enum class Kind { automatic, native, algorithm };
  Kind kind = Kind::automatic;
  Selection selection{};
  std::string text{};
};

struct Rule {
  ValueRange p{1, unbounded};
  ValueRange nodes{1, unbounded};
  ValueRange ranks_per_node{1, unbounded};  ///< the most that a node has
  ValueRange bytes{0, unbounded};
  OpSet ops = all_ops;
  Use use{};
  std::size_t line = 1;
};

struct RulesOf {
  std::vector<Rule> rules;
  std::optional<Rule> otherwise;  ///< for calls that no rule covers
};

/// The programs that rules are for.
enum class RulesFor {
  all,      ///< all programs; an error if there are rules for single ones only
  machine,  ///< all programs, in a profile, which may have none
  program,  ///< one program, in a profile
};

/// Reads rules, and checks all that are in the text. `program` names the program whose rules are wanted. The result is
/// empty if there are none for it. Throws Error(parse) naming the line of the mistake, as make_rules_policy does.
[[nodiscard]] std::map<Collective, RulesOf> read_rules(std::string_view text, const std::string& source,
                                                       const PolicyOptions& options, RulesFor whom = RulesFor::all,
                                                       const std::string& program = "");

/// The rule for a call; nullptr if there are none for its collective.
[[nodiscard]] const Rule* find_rule(const std::map<Collective, RulesOf>& rules, const CallFacts& facts);

}  // namespace circoll::select
