// Rounds that go at once where ranks have several ports.
#include <algorithm>

#include "circoll/algorithm.hpp"

namespace circoll {

std::vector<std::int64_t> groups_on_ports(std::span<const std::int64_t> waits_for, std::int64_t ports) {
  std::vector<std::int64_t> groups;
  groups.reserve(waits_for.size());
  std::int64_t begin = 0;  // the first round of the last group
  for (const std::int64_t latest : waits_for) {
    const auto round = static_cast<std::int64_t>(groups.size());
    const bool joins = round > 0 && round - begin < ports && latest < begin;
    if (round > 0 && !joins) begin = round;
    groups.push_back(round == 0 ? 0 : groups.back() + (joins ? 0 : 1));
  }
  return groups;
}

}  // namespace circoll
