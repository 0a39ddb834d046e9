// From measured cells, and from the model of a machine, to neutral rules.
#include <algorithm>
#include <map>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "foreign/cells.hpp"
#include "foreign/formats.hpp"
#include "foreign/names.hpp"
#include "measured/rules_writer.hpp"

namespace circoll::foreign {
namespace {

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
