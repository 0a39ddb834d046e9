// From a rules file of Circoll to neutral rules.
#include <algorithm>
#include <cmath>

#include "circoll/select.hpp"
#include "foreign/cells.hpp"
#include "foreign/names.hpp"
#include "select/rules.hpp"

namespace circoll::foreign {
namespace {

Range range_of(const select::Interval& interval) {
  return {interval.from, interval.to == unbounded ? unbounded : interval.to - 1};
}

/// A value inside of a range to which a size of segments is fitted.
std::int64_t middle_of(const Range& range, std::int64_t least, std::int64_t most) {
  const auto low = static_cast<double>(std::clamp(range.from, least, most));
  const auto high = static_cast<double>(std::clamp(range.to, least, most));
  return std::clamp(static_cast<std::int64_t>(std::sqrt(low * high)), range.from, range.to);
}

/// The kinds of operators that commute, and the others.
constexpr select::OpSet commuting = [] {
  select::OpSet set = 0;
  for (std::size_t i = 0; i < select::op_kinds.size(); ++i) set |= select::op_kinds[i].commutative ? 1U << i : 0U;
  return set;
}();
constexpr select::OpSet uncommuting = select::all_ops & ~commuting;

bool same_ranges(const select::Rule& a, const select::Rule& b) {
  const auto same = [](const select::Interval& x, const select::Interval& y) {
    return x.from == y.from && x.to == y.to;
  };
  return same(a.p, b.p) && same(a.nodes, b.nodes) && same(a.ranks_per_node, b.ranks_per_node) && same(a.bytes, b.bytes);
}

class Translation {
 public:
  Translation(const std::string& source, const Format& format, const PlacementOptions& placement)
      : source_(source), format_(format), placement_(placement) {}

  void add(Collective collective, const select::RulesOf& rules) {
    for (const select::Rule& rule : rules.rules) add_rule(collective, rule, rules.rules);
    if (rules.otherwise) add_otherwise(collective, *rules.otherwise);
  }

  Translated take() {
    const bool allreduce = std::any_of(result_.rules.begin(), result_.rules.end(), [](const Rule& rule) {
      return rule.collective == Collective::allreduce && !rule.algorithm.empty();
    });
    if (allreduce)
      add_loss(
          result_.losses,
          "no format asks for the same bits on all ranks: allreduces of floating-point numbers may differ among ranks");
    return std::move(result_);
  }

 private:
  void lose(const std::string& from, const std::string& why) { add_loss(result_.losses, from + ": " + why); }

  void add_rule(Collective collective, const select::Rule& rule, const std::vector<select::Rule>& all) {
    if (!is_reducing(collective)) return add_for(collective, rule, Operators::any);
    // Kinds that other rules give to the same choice in the same ranges count as this one's.
    select::OpSet ops = 0;
    bool is_first = true;
    for (const select::Rule& other : all) {
      if (!same_ranges(rule, other) || other.use.text != rule.use.text) continue;
      if (&other < &rule) is_first = false;
      ops |= other.ops;
    }
    if (!is_first) return;
    if (ops == select::all_ops) return add_for(collective, rule, Operators::any);
    add_class(collective, rule, ops, commuting, Operators::commutative);
    add_class(collective, rule, ops, uncommuting, Operators::noncommutative);
  }

  void add_class(Collective collective, const select::Rule& rule, select::OpSet ops, select::OpSet whole,
                 Operators operators) {
    if ((ops & whole) == 0) return;
    if ((ops & whole) == whole) return add_for(collective, rule, operators);
    Rule hole = ranges_of(collective, rule);
    lose(hole.from, "left out: no format knows exact, inexact or idempotent operators");
    hole.operators = operators;
    push(std::move(hole));
  }

  Rule ranges_of(Collective collective, const select::Rule& rule) const {
    return {.collective = collective,
            .ranks = range_of(rule.p),
            .nodes = range_of(rule.nodes),
            .ranks_per_node = range_of(rule.ranks_per_node),
            .bytes = range_of(rule.bytes),
            .from = source_ + ":" + std::to_string(rule.line) + ": " + rule.use.text};
  }

  void add_for(Collective collective, const select::Rule& rule, Operators operators) {
    Rule made = ranges_of(collective, rule);
    made.operators = operators;
    if (rule.use.kind == select::Use::Kind::automatic)
      lose(made.from, "left to the library: auto is the choice of Circoll's model");
    if (rule.use.kind == select::Use::Kind::algorithm) {
      const Named named = named_in(rule.use.selection, middle_of(made.ranks, 2, 1024),
                                   middle_of(made.bytes, 1024, 16 << 20), default_machine(), format_);
      if (!named.why.empty()) lose(made.from, "left out: " + named.why);
      if (!named.note.empty()) lose(made.from, named.note);
      made.algorithm = named.algorithm;
      made.segment_bytes = named.segment_bytes;
      made.radix = named.radix;
    }
    push(std::move(made));
  }

  void add_otherwise(Collective collective, const select::Rule& rule) {
    if (rule.use.kind != select::Use::Kind::algorithm) return;
    const Selection& selection = rule.use.selection;
    const Needs needs = needs_of(*selection.algorithm, collective, selection.params);
    if (needs.power_of_two || needs.even_size || needs.idempotent) {
      return lose(ranges_of(collective, rule).from,
                  "left out: an \"otherwise\" that cannot serve every number of ranks or operator");
    }
    select::Rule widest = rule;
    widest.p.from = std::max<Rank>(needs.min_size, 1);
    add_for(collective, widest, is_reducing(collective) && needs.commutative ? Operators::commutative : Operators::any);
  }

  /// With c ranks on each node, nodes and ranks per node are a matter of the number of ranks.
  void push(Rule rule) {
    const Rank c = placement_.ranks_per_node;
    if (c > 0) {
      Range ranks = rule.ranks;
      const auto times = [](Rank a, Rank b) { return a > unbounded / b ? unbounded : a * b; };
      ranks.from = std::max(ranks.from, times(rule.nodes.from - 1, c) + 1);
      ranks.to = std::min(ranks.to, times(rule.nodes.to, c));
      // A node has c ranks, or all there are.
      if (rule.ranks_per_node.from > c) return;
      ranks.from = std::max(ranks.from, rule.ranks_per_node.from);
      if (rule.ranks_per_node.to < c) ranks.to = std::min(ranks.to, rule.ranks_per_node.to);
      if (ranks.from > ranks.to) return;
      rule.ranks = ranks;
      rule.nodes = rule.ranks_per_node = Range{1};
    }
    result_.rules.push_back(std::move(rule));
  }

  const std::string& source_;
  const Format& format_;
  const PlacementOptions& placement_;
  Translated result_{};
};

}  // namespace

Translated translate_rules(std::string_view json, const std::string& source, const Reader& reader,
                           const PlacementOptions& placement) {
  Translation translation(source, format_of(reader.id), placement);
  for (const auto& [collective, rules] : select::read_rules(json, source, {})) translation.add(collective, rules);
  return translation.take();
}

}  // namespace circoll::foreign
