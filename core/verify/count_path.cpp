#include "verify/count_path.hpp"

#include <algorithm>
#include <vector>

namespace circoll::verify {
namespace {

/// One round, over all ranks.
struct Round {
  std::int64_t longest = 0;
  std::int64_t combined = 0;
  bool both_ways = false;
};

/// Adds the steps of one rank, which stand in the order of rounds.
void add(const Schedule& s, std::vector<Round>& rounds) {
  for (std::size_t i = 0; i < s.steps.size();) {
    const std::uint32_t number = s.steps[i].round;
    Round& round = rounds[number];
    bool sends = false;
    bool receives = false;
    std::int64_t combined = 0;
    for (; i < s.steps.size() && s.steps[i].round == number; ++i) {
      const Step& step = s.steps[i];
      if (step.kind == StepKind::send) {
        sends = true;
        round.longest = std::max(round.longest, s.count(step.left));
      }
      if (is_receive(step.kind)) receives = true;
      if (is_reduction(step.kind)) combined += s.count(step.dst);
    }
    round.both_ways = round.both_ways || (sends && receives);
    round.combined = std::max(round.combined, combined);
  }
}

}  // namespace

CriticalPath count_path(std::span<const Schedule> ranks) {
  // In an exchange the vector of a rank is the blocks that it sends.
  const Schedule& first = ranks[0];
  std::vector<Round> rounds(std::size_t{first.rounds} + 1);
  CriticalPath path{.blocks = is_exchange(first.collective) ? first.blocks() / first.shape.size : first.blocks()};
  for (const Schedule& s : ranks) add(s, rounds);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const Round& round = rounds[i];
    path.combined += round.combined;
    if (i == first.rounds) break;
    if (!round.both_ways) ++path.one_way;
    (round.both_ways ? path.volume : path.one_way_volume) += round.longest;
  }
  return path;
}

}  // namespace circoll::verify
