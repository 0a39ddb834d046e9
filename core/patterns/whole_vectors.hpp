// An allreduce by exchanges of whole vectors between pairs of ranks.
#pragma once

#include "circoll/algorithm.hpp"
#include "patterns/arrivals.hpp"
#include "patterns/butterfly.hpp"
#include "patterns/costs.hpp"

namespace circoll::patterns {

/// Writes exchanges of whole vectors among the places of a Folding. In step k a place exchanges with other(place, k).
/// After the steps all places have the sum, by the same expression up to commutativity. A rank without a place gives
/// its vector to its neighbour before, and gets the sum after.
template <class Other>
void exchange_whole_vectors(Builder& b, Other other) {
  const Folding folding(b.size());
  const Rank r = b.rank();
  const int levels = folding.levels();
  const std::uint32_t after = folding.pairs() > 0 ? 1 : 0;
  if (levels == 0) return b.copy(b.output(), b.input());
  if (folding.removed(r)) {
    b.send(folding.partner(r), b.input());
    b.next_round(after + static_cast<std::uint32_t>(levels));
    b.recv(folding.partner(r), b.output());
    return b.next_round(after);
  }
  Arrivals arrivals(b, b.input());
  Region sum = b.input();
  if (folding.paired(r)) {
    const Region arrived = arrivals.next();
    b.recv(folding.partner(r), arrived);
    b.reduce(arrived, sum, arrived);
    sum = arrived;
  }
  b.next_round(after);
  const Rank place = folding.place_of(r);
  for (int k = 0; k < levels; ++k) {
    const Rank partner = other(place, k);
    const Region arrived = arrivals.next();
    b.sendrecv(folding.rank_at(partner), sum, folding.rank_at(partner), arrived);
    const Region next = k == levels - 1 ? b.output() : arrived;
    partner > place ? b.reduce(next, sum, arrived) : b.reduce(next, arrived, sum);
    sum = next;
    b.next_round();
  }
  if (folding.paired(r)) b.send(folding.partner(r), b.output());
  b.next_round(after);
}

[[nodiscard]] inline Cost cost_of_whole_vectors(const Shape& shape) {
  const Folding folding(shape.size);
  const std::int64_t levels = folding.levels();
  const std::int64_t fold = folding.pairs() > 0 ? 1 : 0;
  return {.rounds = levels + 2 * fold,
          .sent = levels + fold,
          .received = levels + fold,
          .reduced = levels + fold,
          .copied = lonely_copy(shape)};
}

[[nodiscard]] inline CriticalPath path_of_whole_vectors(const Shape& shape) {
  const Folding folding(shape.size);
  const std::int64_t fold = folding.pairs() > 0 ? 1 : 0;
  return {
      .one_way = 2 * fold, .volume = folding.levels(), .one_way_volume = 2 * fold, .combined = folding.levels() + fold};
}

inline constexpr CostFormula whole_vectors_formula{.rounds = "L + 2[r>0]",
                                                   .sent = "L + [r>0]",
                                                   .reduced = "L + [r>0]",
                                                   .two_way = "L",
                                                   .one_way = "2[r>0]",
                                                   .volume = "L",
                                                   .one_way_volume = "2[r>0]"};

}  // namespace circoll::patterns
