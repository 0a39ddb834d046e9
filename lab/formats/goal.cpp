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

std::vector<std::int64_t> last_items(const Schedule& schedule, std::int64_t first_item) {
  const Dependencies dependencies = derive_dependencies(schedule);
  std::vector<std::int64_t> last;
  for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
    if (dependencies.successors(i).empty()) last.push_back(first_item + i);
  }
  return last;
}

std::string goal_begin(Rank rank) { return fmt::format("\nrank {} {{\n", rank); }

std::string goal_computation(std::int64_t item, std::int64_t time_ns, std::span<const std::int64_t> after) {
  std::string text = fmt::format("s{}: calc {}\n", item, time_ns);
  for (const std::int64_t before : after) fmt::format_to(std::back_inserter(text), "s{} requires s{}\n", item, before);
  return text;
}

std::string goal_steps(const Schedule& schedule, Count bytes, double gamma_ns_per_byte, const InProgram& place) {
  check_structure(schedule);
  require(bytes >= 0, "a vector has no negative number of bytes");
  require(gamma_ns_per_byte >= 0 && std::isfinite(gamma_ns_per_byte), "the price of a combined byte is not negative");
  const show::Sizes sizes(schedule, bytes);
  const Dependencies dependencies = derive_dependencies(schedule);
  std::map<std::pair<bool, Rank>, std::int64_t> next_tag;
  std::string text;
  const auto out = std::back_inserter(text);
  const auto combines = [&](StepIndex i) { return schedule.steps[i].kind == StepKind::recv_reduce; };
  const auto calculation = [&](StepIndex i, Count of_bytes) {
    fmt::format_to(out, "s{}: calc {}\n", place.first_item + i,
                   std::llround(gamma_ns_per_byte * static_cast<double>(of_bytes)));
  };
  for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    if (!is_message(step)) {
      calculation(i, step.kind == StepKind::reduce ? sizes.of(step.dst) : 0);
      continue;
    }
    const bool sends = step.kind == StepKind::send;
    const Count length = std::max<Count>(sizes.of(message_operand(step)), 1);
    const Rank peer = place.members.empty() ? step.peer : place.members[static_cast<std::size_t>(step.peer)];
    // The receive of a step that combines is an item of its own, which the calculation waits for.
    fmt::format_to(out, "{}{}: {} {}b {} {} tag {}\n", combines(i) ? 'm' : 's', place.first_item + i,
                   sends ? "send" : "recv", length, sends ? "to" : "from", peer,
                   place.first_tag + next_tag[{sends, step.peer}]++);
    if (!combines(i)) continue;
    calculation(i, sizes.of(step.dst));
    fmt::format_to(out, "s{0} requires m{0}\n", place.first_item + i);
  }
  const auto waits = [&](StepIndex i, std::int64_t before) {
    fmt::format_to(out, "{}{} requires s{}\n", combines(i) ? 'm' : 's', place.first_item + i, before);
  };
  for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
    if (dependencies.in_degree[i] == 0) {
      for (const std::int64_t before : place.after) waits(i, before);
    }
    for (const StepIndex next : dependencies.successors(i)) waits(next, place.first_item + i);
  }
  return text;
}

std::string to_goal(const Schedule& schedule, Count bytes, double gamma_ns_per_byte) {
  return goal_begin(schedule.shape.rank) + goal_steps(schedule, bytes, gamma_ns_per_byte, {}) + std::string(goal_end);
}

}  // namespace circoll
