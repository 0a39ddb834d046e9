// Writes rules (docs/admin/rules.md). The reader decides what a rule may say.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "measured/cells.hpp"
#include "measured/one_line.hpp"

namespace circoll {
namespace {

using RuleLine = nlohmann::ordered_json;

bool reads_back(const std::string& rules) {
  try {
    (void)make_rules_policy(rules, "rules");
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::parse) throw;
    return false;
  }
}

using Cells = std::vector<const RuleCell*>;

/// The rules of one collective and p, of cells in ascending order of bytes.
std::vector<RuleLine> lines_of(const Cells& cells, const RuleOperator& measured, const RulesText& text) {
  std::vector<RuleLine> lines;
  const Collective collective = cells.front()->collective;
  const Rank p = cells.front()->p;
  const bool sized = size_decides(collective);
  Count from = 0;
  for (std::size_t first = 0, next = 0; first < cells.size(); first = next) {
    const std::string& use = cells[first]->use;
    std::string about;
    for (; next < cells.size() && cells[next]->use == use; ++next) {
      if (cells[next]->about.empty()) continue;
      about += (about.empty() ? "" : "; ") + cells[next]->about;
    }
    const auto op = measured::op_of_rule(collective, p, use, measured);
    if (!op) {
      throw Error(ErrorCode::invalid_argument, "no rule can give " + std::string(to_string(collective)) + " on " +
                                                   std::to_string(p) + " ranks to '" + use + "'");
    }
    RuleLine line = RuleLine::object();
    if (!op->empty()) line["op"] = *op;
    line["p"] = {p, p + 1};
    if (text.one_node) line["nodes"] = {1, 2};
    if (next < cells.size()) {
      const Count to = measured::cut_between(cells[next - 1]->bytes, cells[next]->bytes);
      line["bytes"] = {from, to};
      from = to;
    } else if (sized && from > 0) {
      line["bytes"] = RuleLine::array({from});
    }
    if (use == text.otherwise) continue;
    line["use"] = use;
    if (!about.empty()) line["about"] = about;
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

namespace measured {

std::optional<std::string> op_of_rule(Collective collective, Rank p, const std::string& use,
                                      const RuleOperator& measured) {
  if (p == std::numeric_limits<Rank>::max()) return std::nullopt;  // a range has an end
  std::vector<std::string> classes{""};
  if (is_reducing(collective)) {
    const CallFacts facts = facts_of(collective, p, 0, measured.op, measured.type);
    classes = {facts.op.commutative ? "commutative" : "noncommutative", facts.exact_op ? "exact" : "inexact"};
    if (facts.op.commutative && facts.op.idempotent) classes.emplace_back("idempotent");
  }
  for (std::string& op : classes) {
    RuleLine rule = {{"p", {p, p + 1}}, {"use", use}};
    if (!op.empty()) rule["op"] = op;
    const RuleLine rules = {{"circoll_rules", 1}, {to_string(collective), {rule, {{"otherwise", "auto"}}}}};
    if (reads_back(one_line(rules))) return std::move(op);
  }
  return std::nullopt;
}

std::vector<const RuleCell*> sorted_cells(std::span<const RuleCell> cells) {
  Cells sorted;
  for (const RuleCell& cell : cells) {
    require(cell.p >= 1 && cell.bytes >= 0, "a cell of rules has at least one rank, and no negative size");
    sorted.push_back(&cell);
  }
  std::ranges::sort(sorted, [](const RuleCell* a, const RuleCell* b) {
    return std::tie(a->collective, a->p, a->bytes) < std::tie(b->collective, b->p, b->bytes);
  });
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
    const RuleCell &a = *sorted[i], &b = *sorted[i + 1];
    const bool sized = size_decides(a.collective);
    if (a.collective != b.collective || a.p != b.p || (sized && a.bytes != b.bytes)) continue;
    throw Error(ErrorCode::invalid_argument,
                "two choices for " + std::string(to_string(a.collective)) + " on " + std::to_string(a.p) + " ranks" +
                    (sized ? " and " + std::to_string(a.bytes) + " bytes" : ", where sizes cannot decide"));
  }
  return sorted;
}

}  // namespace measured

std::string rules_json(const std::vector<RuleCell>& cells, const RuleOperator& measured, const RulesText& text) {
  const Cells sorted = measured::sorted_cells(cells);
  std::string json = "{\n  \"circoll_rules\": 1";
  if (!text.about.empty()) json += ",\n  \"about\": " + one_line(text.about);
  for (const Collective collective : all_collectives) {
    std::string list;
    for (std::size_t first = 0, next = 0; first < sorted.size(); first = next) {
      const auto alike = [&](const RuleCell* cell) {
        return cell->collective == sorted[first]->collective && cell->p == sorted[first]->p;
      };
      while (next < sorted.size() && alike(sorted[next])) ++next;
      if (sorted[first]->collective != collective) continue;
      const Cells of_p(sorted.begin() + static_cast<std::ptrdiff_t>(first),
                       sorted.begin() + static_cast<std::ptrdiff_t>(next));
      for (const RuleLine& line : lines_of(of_p, measured, text)) list += "    " + one_line(line) + ",\n";
    }
    if (list.empty() && !text.all_collectives) continue;
    list += "    " + one_line({{"otherwise", text.otherwise}}) + "\n";
    json += ",\n  \"" + std::string(to_string(collective)) + "\": [\n" + list + "  ]";
  }
  json += "\n}\n";
  try {
    (void)make_rules_policy(json, "rules");
  } catch (const Error& error) {
    throw Error(ErrorCode::invalid_argument, std::string("these choices make no rules: ") + error.what());
  }
  return json;
}

}  // namespace circoll
