// Schedules of all ranks with their declared claims: the case that a test damages and verifies.
#pragma once

#include <vector>

#include "circoll/verify.hpp"

namespace circoll {

struct Subject {
  const char* id;
  Params params{};
};

/// Everything that is verified: schedules, dependencies, claims. A mutation changes it and says if it could.
struct Case {
  std::vector<Schedule> ranks;
  std::vector<Dependencies> dependencies;  // empty: derived
  Claims claims;

  [[nodiscard]] Verdict verify() const { return verify_schedules(ranks, claims, dependencies); }
};

inline Case make_case(const Subject& subject, Rank p, Rank root) {
  const Selection s = parse_selection(subject.id);
  const Shape shape{.size = p, .root = is_rooted(s.collective) ? root : 0, .params = subject.params};
  return {build_all_ranks(*s.algorithm, s.collective, shape),
          {},
          {s.algorithm->needs, s.algorithm->guarantees, s.algorithm->cost(shape),
           critical_path(*s.algorithm, s.collective, shape)}};
}

/// Replaces an operand by one range.
inline void set_operand(Schedule& s, Operand& o, Range range) {
  o = {static_cast<std::uint32_t>(s.ranges.size()), 1};
  s.ranges.push_back(range);
}

}  // namespace circoll
