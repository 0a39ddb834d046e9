// Schedules as graphs in DOT.
#include <fmt/format.h>

#include <iterator>
#include <string>

#include "circoll/dependencies.hpp"
#include "circoll/error.hpp"
#include "formats/formats.hpp"
#include "schedule/matching.hpp"
#include "show/form.hpp"

namespace circoll {
namespace {

/// The text of a step in a node: "send to 3, 2 blocks".
std::string label_of(const Schedule& s, const Step& step) {
  const std::int64_t blocks = s.count(is_message(step) ? message_operand(step) : step.dst);
  const std::string amount = fmt::format("{} block{}", blocks, blocks == 1 ? "" : "s");
  if (!is_message(step)) return fmt::format("{} {}", show::name_of(step.kind), amount);
  return fmt::format("{} {} {}, {}", show::name_of(step.kind), step.kind == StepKind::send ? "to" : "from", step.peer,
                     amount);
}

}  // namespace

std::string to_dot(std::span<const Schedule> ranks) {
  require(!ranks.empty(), "a drawing has one rank at least");
  for (const Schedule& s : ranks) check_structure(s);
  std::string text =
      fmt::format("digraph \"{}, p = {}\" {{\n  rankdir=LR;\n  node [shape=box];\n", ranks[0].id, ranks.size());
  const auto out = std::back_inserter(text);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Schedule& s = ranks[r];
    fmt::format_to(out, "  subgraph cluster_{} {{\n    label=\"rank {}\";\n", r, r);
    for (StepIndex i = 0; i < s.steps.size(); ++i) {
      fmt::format_to(out, "    r{}s{} [label=\"{}\\nround {}\"];\n", r, i, label_of(s, s.steps[i]), s.steps[i].round);
    }
    const Dependencies dependencies = derive_dependencies(s);
    for (StepIndex i = 0; i < s.steps.size(); ++i) {
      for (const StepIndex next : dependencies.successors(i))
        fmt::format_to(out, "    r{}s{} -> r{}s{};\n", r, i, r, next);
    }
    text += "  }\n";
  }
  try {
    const Matching matching(ranks);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      for (StepIndex i = 0; i < ranks[r].steps.size(); ++i) {
        if (ranks[r].steps[i].kind != StepKind::send) continue;
        const StepOfRank end = matching.of({static_cast<Rank>(r), i});
        fmt::format_to(out, "  r{}s{} -> r{}s{} [style=dashed, constraint=false];\n", r, i, end.rank, end.step);
      }
    }
  } catch (const Unmatched& end) {
    throw Error(ErrorCode::invalid_argument, fmt::format("step {} of rank {}: {}", end.step, end.rank, end.what));
  }
  return text + "}\n";
}

}  // namespace circoll
