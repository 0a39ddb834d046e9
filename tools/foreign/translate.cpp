// From a rules file of Circoll, from measured cells, and from the model of a machine, to neutral rules.
#include <algorithm>
#include <cmath>
#include <map>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "foreign/cells.hpp"
#include "foreign/formats.hpp"
#include "foreign/names.hpp"
#include "measured/cells.hpp"
#include "select/rules.hpp"

namespace circoll::foreign {
namespace {

Range range_of(const select::ValueRange& interval) {
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
  const auto same = [](const select::ValueRange& x, const select::ValueRange& y) {
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
    const bool allreduce = std::ranges::any_of(result_.rules, [](const Rule& rule) {
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

using Cells = std::vector<const RuleCell*>;

/// Adds the cells of one collective and number of ranks, which ascend, as rules on a range of ranks.
void add_rules(const Cells& cells, const Range& ranks, Operators operators, const Format& format, Translated& result) {
  const Collective collective = cells.front()->collective;
  Count from = 0;
  for (std::size_t first = 0, next = 0; first < cells.size(); first = next) {
    const RuleCell& cell = *cells[first];
    while (next < cells.size() && cells[next]->use == cell.use) ++next;
    const bool last = next == cells.size();
    const Count to = last ? unbounded : measured::cut_between(cells[next - 1]->bytes, cells[next]->bytes) - 1;
    Rule rule{.collective = collective,
              .ranks = ranks,
              .bytes = size_decides(collective) ? Range{from, to} : Range{},
              .operators = operators,
              .from = std::string(to_string(collective)) + " on " + std::to_string(cell.p) + " ranks, from " +
                      std::to_string(cell.bytes) + " bytes: " + cell.use};
    if (!last) from = to + 1;
    const Named named = named_in(collective, cell.use, cell.p, cell.bytes, default_machine(), format);
    const bool native = cell.use == "native" || cell.use == "auto";
    if (!named.why.empty() && !native) add_loss(result.losses, rule.from + ": left out: " + named.why);
    if (!named.note.empty()) add_loss(result.losses, rule.from + ": " + named.note);
    rule.algorithm = named.algorithm;
    rule.segment_bytes = named.segment_bytes;
    rule.radix = named.radix;
    result.rules.push_back(std::move(rule));
  }
}

/// True if the format can say the choice for the calls that the cell is about.
bool can_be_said(const RuleCell& cell, const Named& named, const Format& format, Operators operators) {
  const Operators wanted = is_reducing(cell.collective) ? Operators::commutative : Operators::any;
  const Rule rule{.collective = cell.collective,
                  .ranks = {cell.p, cell.p},
                  .operators = wanted,
                  .algorithm = named.algorithm,
                  .radix = named.radix,
                  .from = "cell"};
  const Written written = format.write({&rule, 1}, format.reader, {.operators = operators});
  const Rule* const said =
      first_rule(written.said, {.collective = cell.collective, .ranks = cell.p, .nodes = cell.p, .bytes = cell.bytes});
  return said != nullptr && said->algorithm == named.algorithm;
}

}  // namespace

Translated translate_rules(std::string_view json, const std::string& source, const Reader& reader,
                           const PlacementOptions& placement) {
  Translation translation(source, format_of(reader.id), placement);
  for (const auto& [collective, rules] : select::read_rules(json, source, {})) translation.add(collective, rules);
  return translation.take();
}

Translated translate_cells(std::span<const RuleCell> cells, const RuleOperator& measured, const Reader& reader,
                           bool all_ranks) {
  const Format& format = format_of(reader.id);
  std::map<Collective, std::map<Rank, Cells>> by_ranks;
  for (const RuleCell* cell : measured::sorted_cells(cells)) by_ranks[cell->collective][cell->p].push_back(cell);
  Translated result;
  for (const auto& [collective, of_collective] : by_ranks) {
    Operators operators = Operators::any;
    if (is_reducing(collective)) {
      const CallFacts facts = facts_of(collective, 2, 0, measured.op, measured.type);
      operators = facts.op.commutative ? Operators::commutative : Operators::noncommutative;
    }
    for (auto at = of_collective.begin(); at != of_collective.end(); ++at) {
      Range ranks{at->first, at->first};
      if (all_ranks) {
        const auto after = std::next(at);
        ranks = {at == of_collective.begin() ? 1 : at->first,
                 after == of_collective.end() ? unbounded : after->first - 1};
      }
      add_rules(at->second, ranks, operators, format, result);
    }
  }
  return result;
}

Translated translate_model(const Machine& machine, const ModelGrid& grid, const Reader& reader) {
  const Format& format = format_of(reader.id);
  require(!grid.ranks.empty() && !grid.bytes.empty(), "a model is asked about numbers of ranks and sizes");
  const auto policy = make_policy("model", {.machine = machine, .allow_rank_divergence = true});
  std::vector<Collective> collectives = grid.collectives;
  if (collectives.empty()) collectives.assign(all_collectives.begin(), all_collectives.end());
  std::vector<RuleCell> cells;
  for (const Collective collective : collectives) {
    for (const Rank p : grid.ranks) {
      require(p >= 2, "a model is asked about two ranks or more");
      for (const Count bytes : grid.bytes) {
        RuleCell cell{.collective = collective, .p = p, .bytes = size_decides(collective) ? bytes : 0, .use = "auto"};
        CallFacts facts = facts_of(collective, p, cell.bytes, Op::sum, Type::float64);
        facts.cores = std::min(std::max<Rank>(grid.ranks_per_node, 1), p);
        for (const Candidate& candidate : policy->decide(facts).candidates) {
          const Named named = named_in(candidate.selection, p, cell.bytes, machine, format);
          if (named.algorithm.empty() || !can_be_said(cell, named, format, grid.operators)) continue;
          cell.use = std::string(reader.library) + "/" + named.algorithm;
          if (named.segment_bytes > 0) cell.use += ":segment=" + std::to_string(named.segment_bytes);
          if (named.radix > 0)
            cell.use += (named.segment_bytes > 0 ? ",radix=" : ":radix=") + std::to_string(named.radix);
          break;
        }
        cells.push_back(std::move(cell));
        if (!size_decides(collective)) break;
      }
    }
  }
  Translated result = translate_cells(cells, {.op = Op::sum, .type = Type::float64}, reader, true);
  add_loss(result.losses,
           "times are those of Circoll's model of these algorithms on '" + machine.name + "', not measured");
  return result;
}

}  // namespace circoll::foreign
