// Windows: messages of a rank that wait for earlier ones, so that few are under way at a time.
#include <cstddef>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/transform.hpp"

namespace circoll {

Schedule with_window(Schedule schedule, std::int64_t window) {
  require(window >= 1, "a window has at least one message");
  const auto behind = static_cast<std::size_t>(window);
  std::vector<StepIndex> sends, receives;
  for (StepIndex s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    if (!is_message(step)) continue;
    std::vector<StepIndex>& earlier = step.kind == StepKind::send ? sends : receives;
    // A message of the same round is no reason to wait: its peer may wait for this one.
    if (earlier.size() >= behind && schedule.steps[earlier[earlier.size() - behind]].round < step.round)
      schedule.edges.emplace_back(earlier[earlier.size() - behind], s);
    earlier.push_back(s);
  }
  return schedule;
}

}  // namespace circoll
