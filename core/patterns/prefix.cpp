#include "patterns/prefix.hpp"

#include <algorithm>

#include "patterns/arrivals.hpp"
#include "patterns/butterfly.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace circoll::patterns {
namespace {

/// True if somebody needs, after round k, all that the group of rank r has. It may be a higher partner to come, or one
/// of a lower partner, who learns it first.
bool needed_after(Rank r, Rank p, int k) {
  for (Rank mask = Rank{2} << k; mask < p; mask *= 2) {
    if ((r & mask) == 0) {
      if (r + mask < p) return true;
    } else {
      r -= mask;
    }
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
    const bool goes_on = needed_after(r, p, k);
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
    if (needed_after(other, p, k)) b.send(other, all);
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
  Cost cost{.rounds = ceil_log2(p), .sent = ceil_log2(p), .received = floor_log2(p)};
  // A rank combines twice, for the result and for the group, in all but the first of its rounds and those in which
  // nobody needs its group any more.
  const Rank top = inclusive ? p + 1 : p;
  const int level = floor_log2(top);
  cost.reduced = 2 * level - 3 + (top >= Rank{3} << (level > 0 ? level - 1 : 0) ? 1 : 0);
  if (inclusive) {
    cost.reduced = std::max<std::int64_t>(cost.reduced, floor_log2(p));  // for the result alone
    cost.copied = shape.in_place ? 0 : 1;
  } else {
    cost.reduced = std::max<std::int64_t>(cost.reduced, p == 3 ? 1 : p == 5 ? 2 : 0);
    cost.copied = shape.in_place && p > 1 ? 1 : 0;
  }
  return cost;
}

CriticalPath path_of_prefix_by_doubling(const Shape& shape, bool inclusive) {
  const Rank p = shape.size;
  const int q = ceil_log2(p);
  if (q < 1) return {};
  // Only in the last round nobody needs the total of the upper group.
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

void prefix_directly(Builder& b, bool inclusive) {
  const Rank p = b.size();
  const Rank r = b.rank();
  const Rank ranks = inclusive ? r + 1 : r;
  // The result is the message itself where there is only one, unless what must be sent lies there.
  const bool lone = !inclusive && r == 1 && !b.shape().in_place;
  const DirectOperands operands(b, 0, b.input(), lone ? 0 : ranks);
  for (Rank i = 1; i < p; ++i) {
    if (r + i < p) b.send(r + i, b.input());
    if (r >= i) b.recv(r - i, lone ? b.output() : operands.of(r - i));
    // In the round of the last message, so that this one is combined as it arrives.
    if (i == p - 1 && ranks > 0 && !lone) operands.combine_into(b.output());
    b.next_round();
  }
  if (p == 1 && inclusive) operands.combine_into(b.output());
}

Cost cost_of_prefix_directly(const Shape& shape, bool inclusive) {
  const Rank others = shape.size - 1;
  const std::int64_t lowest_copies = inclusive ? (shape.in_place ? 0 : 1) : (shape.in_place && others > 0 ? 1 : 0);
  return {.rounds = others,
          .sent = others,
          .received = others,
          .reduced = inclusive ? others : std::max<Rank>(others - 1, 0),
          .copied = lowest_copies};
}

/// In round i a rank both sends and receives if there are i ranks below it and i above.
CriticalPath path_of_prefix_directly(const Shape& shape, bool inclusive) {
  const Rank others = shape.size - 1;
  return {.blocks = 1,
          .one_way = others - others / 2,
          .volume = others / 2,
          .one_way_volume = others - others / 2,
          .combined = cost_of_prefix_directly(shape, inclusive).reduced};
}

}  // namespace circoll::patterns
