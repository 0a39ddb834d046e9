// Windows: few messages of a rank are under way at a time, until their receivers acknowledge them.
#include <cstddef>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/transform.hpp"

namespace circoll {
namespace {

class Windowed {
 public:
  Windowed(const Schedule& schedule, std::int64_t window)
      : schedule_(schedule),
        window_(static_cast<std::size_t>(window)),
        result_(schedule),
        number_(schedule.steps.size()) {}

  Schedule run() {
    result_.steps.clear();
    result_.edges.clear();
    result_.rounds = 2 * schedule_.rounds;
    std::vector<StepIndex> round;  // messages of the round, by their new numbers
    for (StepIndex s = 0; s < schedule_.steps.size(); ++s) {
      const Step& step = schedule_.steps[s];
      if (s > 0 && step.round != schedule_.steps[s - 1].round) acknowledge(round);
      number_[s] = append(step, 2 * step.round);
      if (is_message(step)) round.push_back(number_[s]);
    }
    acknowledge(round);
    for (const auto& [earlier, later] : schedule_.edges) result_.edges.emplace_back(number_[earlier], number_[later]);
    return std::move(result_);
  }

 private:
  StepIndex append(Step step, std::uint32_t round) {
    step.round = round;
    const auto number = static_cast<StepIndex>(result_.steps.size());
    result_.steps.push_back(step);
    // A message waits for the end of the one that is `window_` before it.
    if (!is_message(step) || round % 2 != 0) return number;
    std::vector<StepIndex>& ends = step.kind == StepKind::send ? acknowledged_ : received_;
    if (ends.size() >= window_) result_.edges.emplace_back(ends[ends.size() - window_], number);
    return number;
  }

  /// Answers the messages that the round brings, and waits for the answers to those that it sends.
  void acknowledge(std::vector<StepIndex>& round) {
    for (const StepIndex message : round) {
      const Step step = result_.steps[message];
      const bool sends = step.kind == StepKind::send;
      const StepIndex answer =
          append({.kind = sends ? StepKind::recv : StepKind::send, .peer = step.peer}, step.round + 1);
      result_.edges.emplace_back(message, answer);
      sends ? acknowledged_.push_back(answer) : received_.push_back(message);
    }
    round.clear();
  }

  const Schedule& schedule_;
  std::size_t window_;
  Schedule result_;
  std::vector<StepIndex> number_;        // of a step in the result
  std::vector<StepIndex> acknowledged_;  // the answers to the sends so far
  std::vector<StepIndex> received_;      // the receives so far
};

}  // namespace

Schedule with_window(const Schedule& schedule, std::int64_t window) {
  require(window >= 1, "a window has at least one message");
  return Windowed(schedule, window).run();
}

}  // namespace circoll
