#include "patterns/prefix_doubling.hpp"

#include <algorithm>

#include "patterns/arrivals.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"
#include "patterns/power_of_two.hpp"

namespace circoll::patterns {
namespace {

/// True if rank r has a partner in a round after round k, which will want to know what the group has in all.
bool exchanges_after(Rank r, Rank p, int k) {
  for (Rank mask = Rank{2} << k; mask < p; mask *= 2) {
    if ((r ^ mask) < p) return true;
  }
  return false;
}

}  // namespace

void prefix_by_doubling(Builder& b, bool inclusive) {
  const Rank p = b.size();
  const Rank r = b.rank();
  Arrivals arrivals(b, b.input());
  Region all = b.input();                            // of the group
  Region result = inclusive ? b.input() : Region{};  // of the group's ranks up to this one; empty: nothing yet
  bool same = inclusive;                             // result and all are the same
  bool alone = true;                                 // all is this rank's contribution
  for (int k = 0; Rank{1} << k < p; ++k, b.next_round()) {
    const Rank other = r ^ (Rank{1} << k);
    if (other >= p) continue;
    const bool goes_on = exchanges_after(r, p, k);
    if (other > r) {
      b.send(other, all);
      if (!goes_on) continue;
      const Region arrived = arrivals.next();
      b.recv(other, arrived);
      b.reduce(arrived, all, arrived);
      all = arrived;
      alone = false;
      same = false;
      continue;
    }
    if (exchanges_after(other, p, k)) b.send(other, all);
    if (result.empty()) {
      // In place the contribution leaves from where the result belongs, unless it went into a sum before.
      const bool occupied = b.shape().in_place && alone;
      result = occupied ? b.region(b.scratch_like(b.input())) : b.output();
      b.recv(other, result);
      if (!goes_on) continue;
      const Region next = arrivals.next();
      b.reduce(next, result, all);
      all = next;
      alone = false;
      continue;
    }
    const Region arrived = arrivals.next();
    b.recv(other, arrived);
    b.reduce(b.output(), arrived, result);
    result = b.output();
    if (same) {
      all = result;
    } else if (goes_on) {
      b.reduce(arrived, arrived, all);
      all = arrived;
    }
  }
  if (!b.output().empty()) b.copy(b.output(), result);
}

Cost cost_of_prefix_by_doubling(const Shape& shape, bool inclusive) {
  const Rank p = shape.size;
  const int q = ceil_log2(p);
  const int levels = floor_log2(p);
  Cost cost{.rounds = q, .sent = q};
  // A rank in the upper half hears from below in the last round, and in the first ones from the m ranks there.
  const Rank m = p - (p > 1 ? Rank{1} << (q - 1) : 0);
  cost.received = p > 1 ? std::max(q - 1, 1 + ceil_log2(m)) : 0;
  // Rank 2^L - 2 and its like combine twice in most rounds: for the result and for the group.
  cost.reduced = std::max(0, 2 * levels - 2);
  if (inclusive) {
    if (p > 1) cost.reduced = std::max<std::int64_t>(cost.reduced, 1);
    if (p > 3 && p == (Rank{2} << levels) - 1) ++cost.reduced;
    cost.copied = shape.in_place ? 0 : 1;
  } else {
    if (p == 3) cost.reduced = 1;
    cost.copied = shape.in_place && p > 1 ? 1 : 0;
  }
  return cost;
}

CriticalPath path_of_prefix_by_doubling(const Shape& shape, bool inclusive) {
  const Rank p = shape.size;
  const int q = ceil_log2(p);
  if (p == 1) return {};
  // Only in the last round nobody wants to know what the upper group has.
  CriticalPath path = pipelined_path(1, q, 1);
  const Rank half = Rank{1} << (q - 1);
  // The least m such that rank m in the lower half of the ranks, or half + m, has a result before it receives.
  const Rank early = inclusive ? 0 : 1;
  // In rounds 1 .. q-2 a rank combines for the result and for the group, if it exchanges again: in round q-2 the upper
  // quarter of the lower half must have partners.
  if (q > 2) path.combined = 2 * (q - 2) - (p > half + half / 2 + early ? 0 : 1);
  path.combined += (q > 1 ? 1 : 0) + (p > half + early ? 1 : 0);
  return path;
}

}  // namespace circoll::patterns
