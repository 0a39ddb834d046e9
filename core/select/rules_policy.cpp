// The policy "file" follows rules in JSON (docs/admin/rules.md). They are checked when they are read, and every error
// names a line.
//
// The calls of a collective form a space of p, nodes, ranks per node, bytes and the kind of the operator. The rules
// must cut it into parts: no call twice, no call left out, and no algorithm where its needs do not hold.
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "schedule/registry.hpp"
#include "select/policies.hpp"
#include "select/rules.hpp"
#include "select/text_file.hpp"

namespace circoll::select {
namespace {

std::optional<OpSet> ops_of(std::string_view name) {
  OpSet set = 0;
  for (std::size_t i = 0; i < op_kinds.size(); ++i) {
    const OpKind& kind = op_kinds[i];
    const bool in = name == "any" || (name == "commutative" && kind.commutative) ||
                    (name == "noncommutative" && !kind.commutative) || (name == "exact" && kind.exact) ||
                    (name == "inexact" && !kind.exact) || (name == "idempotent" && kind.idempotent) ||
                    (name == "nonidempotent" && !kind.idempotent);
    if (in) set |= 1U << i;
  }
  return set == 0 ? std::nullopt : std::optional(set);
}

std::string name_of(const OpKind& kind) {
  return std::string(kind.commutative ? "commutative" : "noncommutative") + ", " + (kind.exact ? "exact" : "inexact") +
         (kind.idempotent ? ", idempotent" : "");
}

std::string text_of(const ValueRange& interval) {
  return "[" + std::to_string(interval.from) + ", " +
         (interval.to == unbounded ? "unbounded" : std::to_string(interval.to)) + ")";
}

/// The ranges that a rule has beside that of sizes, of which p is the first.
struct Dimension {
  std::string_view name;
  ValueRange Rule::*range;
};
constexpr std::array dimensions{Dimension{"p", &Rule::p}, Dimension{"nodes", &Rule::nodes},
                                Dimension{"ranks_per_node", &Rule::ranks_per_node}};
using Cell = std::array<ValueRange, dimensions.size()>;

/// The numbers of ranks in a cell that can lie so. On n nodes, one of which has c ranks and none more, there are
/// n + c - 1 ranks to n * c. Over ranges of n and c these have no gaps.
ValueRange possible_p(const Cell& cell) {
  const auto& [p, nodes, ranks_per_node] = cell;
  const std::int64_t n = nodes.to - 1;
  const std::int64_t c = ranks_per_node.to - 1;
  const bool bounded = nodes.to != unbounded && ranks_per_node.to != unbounded && n <= (unbounded - 1) / c;
  const std::int64_t from = std::max(nodes.from, ranks_per_node.from);
  // The sum may be too large for 64 bits, and then there are no such calls.
  const std::int64_t others = std::min(nodes.from, ranks_per_node.from) - 1;
  return {std::max(p.from, from > unbounded - others ? unbounded : from + others),
          bounded ? std::min(p.to, n * c + 1) : p.to};
}

/// 64, or "64", or "64Ki"; in bytes, "64KiB" as well.
std::optional<std::int64_t> number_of(const Json& json, bool in_bytes) {
  if (const auto* value = std::get_if<std::int64_t>(&json.value))
    return *value >= 0 ? std::optional(*value) : std::nullopt;
  const std::string* text = json.string();
  if (text == nullptr) return std::nullopt;
  return in_bytes ? parse_bytes(*text) : parse_number(*text);
}

class Reader {
 public:
  Reader(const std::string& source, const PolicyOptions& options) : source_(source), options_(options) {}

  std::map<Collective, RulesOf> read(std::string_view text, RulesFor whom, const std::string& program) {
    const Json root = read_json(text, source_);
    const Members members(root, source_,
                          with_collectives({"circoll_rules", "about", "profile", "learned", "programs"}));
    members.require_version("circoll_rules");
    if (members.find("about") != nullptr) (void)members.text("about");
    std::map<Collective, RulesOf> all = read_lists(members), own;
    const Json* const programs = members.find("programs");
    if (programs == nullptr) return whom == RulesFor::program ? own : all;
    if (programs->object() == nullptr) members.fail(*programs, "'programs' must be {...}, with the names of programs");
    for (const auto& [name, section] : *programs->object()) {
      std::map<Collective, RulesOf> rules = read_lists(Members(section, source_, with_collectives({"measured"})));
      if (name == program) own = std::move(rules);
    }
    if (whom == RulesFor::all && all.empty()) {
      members.fail(*programs, "there are rules for single programs only; CIRCOLL_PROFILE=" + source_ + " uses them");
    }
    return whom == RulesFor::program ? own : all;
  }

 private:
  static std::vector<std::string_view> with_collectives(std::vector<std::string_view> known) {
    for (const Collective collective : all_collectives) known.push_back(to_string(collective));
    return known;
  }

  std::map<Collective, RulesOf> read_lists(const Members& members) {
    std::map<Collective, RulesOf> all;
    for (const Collective collective : all_collectives) {
      const Json* list = members.find(to_string(collective));
      if (list == nullptr) continue;
      if (list->array() == nullptr || list->array()->empty()) {
        members.fail(*list, "rules of a collective are a list [...] of at least one");
      }
      all.emplace(collective, read_list(collective, *list));
    }
    return all;
  }

  RulesOf read_list(Collective collective, const Json& list) {
    RulesOf result;
    for (const Json& entry : *list.array()) {
      if (result.otherwise) fail_at(source_, entry.line, "\"otherwise\" comes last");
      Rule rule{.line = entry.line};
      if (entry.member("otherwise") != nullptr) {
        const Members members(entry, source_, {"otherwise", "about"});
        rule.use = read_use(collective, entry, members.text("otherwise"));
        result.otherwise = rule;
        continue;
      }
      const Members members(entry, source_, {"p", "nodes", "ranks_per_node", "bytes", "op", "use", "about"});
      for (const Dimension& dimension : dimensions) rule.*dimension.range = read_interval(members, dimension.name, 1);
      rule.bytes = read_interval(members, "bytes", 0);
      if (!size_decides(collective) && members.find("bytes") != nullptr) {
        fail_at(source_, entry.line,
                "\"bytes\" cannot decide about " + std::string(to_string(collective)) +
                    (has_unknown_size(collective) ? ": the ranks do not all know it" : ", which has none"));
      }
      rule.ops = read_ops(collective, members, entry);
      rule.use = read_use(collective, entry, members.text("use"));
      check_possible(collective, rule);
      result.rules.push_back(std::move(rule));
    }
    check_partition(collective, result, list.line);
    return result;
  }

  ValueRange read_interval(const Members& members, std::string_view key, std::int64_t least) {
    const Json* json = members.find(key);
    ValueRange interval{least, unbounded};
    if (json == nullptr) return interval;
    const std::string wanted =
        "'" + std::string(key) + "' is [FROM, TO], FROM included and TO not, or [FROM] without an end";
    if (json->array() == nullptr || json->array()->empty() || json->array()->size() > 2) members.fail(*json, wanted);
    const auto read_one = [&](std::size_t i) {
      const auto value = number_of((*json->array())[i], key == "bytes");
      if (!value) members.fail(*json, wanted + "; a bound is a number, or a string as \"64Ki\"");
      return *value;
    };
    interval.from = read_one(0);
    if (json->array()->size() == 2) interval.to = read_one(1);
    if (interval.from < least) members.fail(*json, "'" + std::string(key) + "' begins at " + std::to_string(least));
    if (interval.empty())
      members.fail(*json, "the range " + text_of(interval) + " of '" + std::string(key) + "' is empty");
    return interval;
  }

  OpSet read_ops(Collective collective, const Members& members, const Json& entry) {
    if (members.find("op") == nullptr) return all_ops;
    if (!is_reducing(collective)) members.fail(entry, std::string(to_string(collective)) + " has no operator");
    const Json& op = members.at("op");
    if (op.array() == nullptr) return read_ops_named(members, entry, members.text("op"));
    OpSet all = all_ops;
    for (const Json& one : *op.array()) {
      if (one.string() == nullptr) members.fail(op, "'op' is a kind of operators, or a list of kinds");
      all &= read_ops_named(members, entry, *one.string());
    }
    if (all == 0 || op.array()->empty()) members.fail(op, "no operator is of all these kinds");
    return all;
  }

  static OpSet read_ops_named(const Members& members, const Json& entry, const std::string& name) {
    const auto ops = ops_of(name);
    if (!ops) {
      members.fail(entry, "'" + name +
                              "' is none of any, commutative, noncommutative, exact, inexact, idempotent, "
                              "nonidempotent");
    }
    return *ops;
  }

  Use read_use(Collective collective, const Json& at, const std::string& text) {
    if (text == "auto") return {.kind = Use::Kind::automatic, .selection = {}, .text = text};
    if (text == "native") return {.kind = Use::Kind::native, .selection = {}, .text = text};
    try {
      // The ranks have compared the rules, and not the file.
      if (text.find(file_prefix) != std::string::npos) {
        throw Error(ErrorCode::unsupported,
                    "a rule names no file of schedules; " + algorithm_variable(collective) + "=file:PATH does");
      }
      const bool whole = text.find('/') != std::string::npos;
      Selection selection = whole ? parse_selection(text) : parse_selection(collective, text);
      if (selection.collective != collective) throw Error(ErrorCode::parse, "'" + text + "' is of another collective");
      return {.kind = Use::Kind::algorithm, .selection = std::move(selection), .text = text};
    } catch (const Error& error) {
      fail_at(source_, at.line, error.what());
    }
  }

  /// An algorithm must be able to serve every call of its rule.
  void check_possible(Collective collective, const Rule& rule) {
    if (possible_p({rule.p, rule.nodes, rule.ranks_per_node}).empty()) {
      fail_at(source_, rule.line, "no call has so many ranks on so many nodes");
    }
    if (rule.use.kind != Use::Kind::algorithm) return;
    const Selection& selection = rule.use.selection;
    const ValueRange sizes = possible_p({rule.p, rule.nodes, rule.ranks_per_node});
    for (std::size_t i = 0; i < op_kinds.size(); ++i) {
      if ((rule.ops & 1U << i) == 0) continue;
      const OpKind& kind = op_kinds[i];
      for (const Rank p : telling_sizes(sizes)) {
        CallFacts facts{.collective = collective, .p = p};
        if (is_reducing(collective)) {
          facts.op = {.commutative = kind.commutative, .idempotent = kind.idempotent};
          facts.exact_op = kind.exact;
        }
        const std::string why = why_not(selection, facts, options_.allow_rank_divergence);
        if (why.empty()) continue;
        fail_at(source_, rule.line,
                selection.id() + " cannot serve all calls of this rule: for p = " + std::to_string(p) +
                    (is_reducing(collective) ? " and an operator that is " + name_of(kind) : "") + " it " + why);
      }
    }
  }

  /// Values of p in a range that break a need if any does. The needs are a least p, parity, and being a power of two.
  static std::vector<Rank> telling_sizes(const ValueRange& p) {
    std::vector<Rank> sizes;
    for (Rank i = 0; i < 4 && p.holds(p.from + i); ++i) sizes.push_back(p.from + i);
    return sizes;
  }

  void check_partition(Collective collective, const RulesOf& rules, std::size_t line) {
    for (std::size_t i = 0; i < op_kinds.size(); ++i) {
      if (!is_reducing(collective) && i > 0) break;
      std::vector<const Rule*> of_kind;
      for (const Rule& rule : rules.rules) {
        if ((rule.ops & 1U << i) != 0) of_kind.push_back(&rule);
      }
      // Of rules that begin alike the first in the file comes first.
      std::stable_sort(of_kind.begin(), of_kind.end(),
                       [](const Rule* a, const Rule* b) { return a->bytes.from < b->bytes.from; });
      const RulesOfOps part{
          .collective = collective,
          .has_otherwise = rules.otherwise.has_value(),
          .line = line,
          .suffix = is_reducing(collective) ? " and an operator that is " + name_of(op_kinds[i]) : ""};
      check_cells(part, of_kind, {}, 0);
    }
  }

  /// The rules of one kind of operator.
  struct RulesOfOps {
    Collective collective;
    bool has_otherwise;
    std::size_t line;
    std::string suffix;
  };

  /// The rules that hold in the ranges of a cell before `dimension`: between two neighbouring bounds the same ones do.
  void check_cells(const RulesOfOps& part, const std::vector<const Rule*>& rules, Cell cell, std::size_t dimension) {
    if (dimension == cell.size()) return check_sizes(part, rules, cell);
    const auto range = dimensions.at(dimension).range;
    std::vector<std::int64_t> bounds{1, unbounded};
    for (const Rule* rule : rules) {
      bounds.push_back((rule->*range).from);
      bounds.push_back((rule->*range).to);
    }
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
      cell.at(dimension) = {bounds[i], bounds[i + 1]};
      std::vector<const Rule*> within;
      std::copy_if(rules.begin(), rules.end(), std::back_inserter(within),
                   [&](const Rule* rule) { return (rule->*range).holds(bounds[i]); });
      check_cells(part, within, cell, dimension + 1);
    }
  }

  /// The rules of a cell, over bytes.
  void check_sizes(const RulesOfOps& part, const std::vector<const Rule*>& rules, const Cell& cell) {
    const ValueRange sizes = possible_p(cell);
    if (sizes.empty()) return;
    std::string where = "p = " + std::to_string(sizes.from);
    for (std::size_t i = 1; i < cell.size(); ++i) {
      const bool all = cell.at(i).from == 1 && cell.at(i).to == unbounded;
      if (!all) where += ", " + std::string(dimensions.at(i).name) + " in " + text_of(cell.at(i));
    }
    std::int64_t covered = 0;
    const Rule* before = nullptr;
    const auto missing = [&](std::int64_t to) {
      if (part.has_otherwise) return;
      fail_at(source_, before != nullptr ? before->line : part.line,
              "no rule of " + std::string(to_string(part.collective)) + " covers " + where + ", bytes in " +
                  text_of({covered, to}) + part.suffix + "; add one, or {\"otherwise\": \"auto\"}");
    };
    for (const Rule* rule : rules) {
      if (before != nullptr && rule->bytes.from < covered) {
        fail_at(source_, std::max(rule->line, before->line),
                "this rule overlaps that of line " + std::to_string(std::min(rule->line, before->line)) +
                    ": both cover " + where + ", bytes = " + std::to_string(rule->bytes.from) + part.suffix);
      }
      if (rule->bytes.from > covered) missing(rule->bytes.from);
      covered = rule->bytes.to;
      before = rule;
    }
    if (covered != unbounded) missing(unbounded);
  }

  std::string source_;
  const PolicyOptions& options_;
};

class Rules final : public PolicyBase {
 public:
  Rules(std::map<Collective, RulesOf> rules, std::string source, const PolicyOptions& options)
      : PolicyBase("file", options), rules_(std::move(rules)), source_(std::move(source)) {}

  [[nodiscard]] Decision decide(const CallFacts& facts) const override {
    if (!rules_.contains(facts.collective)) {
      return fall_back(facts, source_ + " has no rules of " + std::string(to_string(facts.collective)), {});
    }
    const Rule* const rule = find_rule(rules_, facts);
    const std::string where = source_ + ":" + std::to_string(rule->line) + ": " + rule->use.text;
    if (rule->use.kind == Use::Kind::native) return native("rule " + where);
    if (rule->use.kind == Use::Kind::automatic) return fall_back(facts, "rule " + where, {});
    std::vector<RuledOut> ruled_out;
    if (auto decision = take(facts, rule->use.selection, "rule " + where, ruled_out)) return *std::move(decision);
    // Only an "otherwise", which cannot be checked against all calls when it is read.
    return fall_back(facts, "rule " + where + " cannot serve the call", std::move(ruled_out));
  }

 private:
  std::map<Collective, RulesOf> rules_;
  std::string source_;
};

}  // namespace

std::map<Collective, RulesOf> read_rules(std::string_view text, const std::string& source, const PolicyOptions& options,
                                         RulesFor whom, const std::string& program) {
  return Reader(source, options).read(text, whom, program);
}

const Rule* find_rule(const std::map<Collective, RulesOf>& rules, const CallFacts& facts) {
  const auto found = rules.find(facts.collective);
  if (found == rules.end()) return nullptr;
  OpSet kind = 1;  // without an operator: the first kind stands for all
  if (is_reducing(facts.collective)) {
    for (std::size_t i = 0; i < op_kinds.size(); ++i) {
      const OpKind& k = op_kinds[i];
      // An operator that is idempotent and does not commute is taken for one that is not idempotent.
      if (k.commutative == facts.op.commutative && k.exact == facts.exact_op &&
          k.idempotent == (facts.op.idempotent && facts.op.commutative)) {
        kind = 1U << i;
      }
    }
  }
  for (const Rule& rule : found->second.rules) {
    if ((rule.ops & kind) != 0 && rule.p.holds(facts.p) && rule.bytes.holds(facts.bytes) &&
        rule.nodes.holds(nodes_of(facts)) && rule.ranks_per_node.holds(ranks_per_node_of(facts))) {
      return &rule;
    }
  }
  check(found->second.otherwise.has_value(), "rules cover every call");
  return &*found->second.otherwise;
}

}  // namespace circoll::select

namespace circoll {

std::unique_ptr<const Policy> make_rules_policy(std::string_view json, const std::string& source,
                                                const PolicyOptions& options) {
  return std::make_unique<select::Rules>(select::read_rules(json, source, options), source, options);
}

}  // namespace circoll
