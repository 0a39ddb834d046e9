// Schedules in GOAL.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "circoll/dependencies.hpp"
#include "circoll/error.hpp"
#include "formats/formats.hpp"
#include "formats/sizes.hpp"

namespace circoll {

std::string goal_head(Rank p) { return fmt::format("num_ranks {}\n", p); }

std::string to_goal(const Schedule& schedule, Count bytes, double gamma_ns_per_byte) {
  check_structure(schedule);
  require(bytes >= 0, "a vector has no negative number of bytes");
  require(gamma_ns_per_byte >= 0 && std::isfinite(gamma_ns_per_byte), "the price of a combined byte is not negative");
  const show::Sizes sizes(schedule, bytes);
  const Dependencies dependencies = derive_dependencies(schedule);
  std::map<std::pair<bool, Rank>, std::int64_t> next_tag;
  std::string text = fmt::format("\nrank {} {{\n", schedule.shape.rank);
  const auto out = std::back_inserter(text);
  const auto calculation = [&](StepIndex i, char id, Count of_bytes) {
    fmt::format_to(out, "{}{}: calc {}\n", id, i, std::llround(gamma_ns_per_byte * static_cast<double>(of_bytes)));
  };
  for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    if (!is_message(step)) {
      calculation(i, 's', step.kind == StepKind::reduce ? sizes.of(step.dst) : 0);
      continue;
    }
    const bool sends = step.kind == StepKind::send;
    const Count length = std::max<Count>(sizes.of(message_operand(step)), 1);
    // The receive of a step that combines is an item of its own, which the calculation waits for.
    const bool combines = step.kind == StepKind::recv_reduce;
    fmt::format_to(out, "{}{}: {} {}b {} {} tag {}\n", combines ? 'm' : 's', i, sends ? "send" : "recv", length,
                   sends ? "to" : "from", step.peer, next_tag[{sends, step.peer}]++);
    if (!combines) continue;
    calculation(i, 's', sizes.of(step.dst));
    fmt::format_to(out, "s{} requires m{}\n", i, i);
  }
  for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
    for (const StepIndex next : dependencies.successors(i)) {
      const bool combines = schedule.steps[next].kind == StepKind::recv_reduce;
      fmt::format_to(out, "{}{} requires s{}\n", combines ? 'm' : 's', next, i);
    }
  }
  return text + "}\n";
}

}  // namespace circoll
