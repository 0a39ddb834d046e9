#include "patterns/direct.hpp"

#include <algorithm>
#include <utility>

namespace circoll::patterns {

DirectOperands::DirectOperands(Builder& builder, Block block, Region own, Rank ranks)
    : b_(builder), own_(std::move(own)), ranks_(ranks) {
  const Rank others = b_.rank() < ranks ? ranks - 1 : ranks;
  if (others > 0) others_ = b_.scratch(others, block, 0);
}

Region DirectOperands::of(Rank i) const {
  const Rank own = b_.rank();
  return i == own ? own_ : b_.region(others_, i < own ? i : i - 1, 1);
}

void DirectOperands::combine_into(const Region& to) const {
  const Rank last = ranks_ - 1;
  if (last == 0) return b_.copy(to, of(0));
  Region sum = of(0);
  for (Rank i = 1; i <= last; ++i) {
    // The sum is written over the operand, or over the sum before if the operand is the own one.
    const Region next = i == last ? to : i == b_.rank() ? sum : of(i);
    b_.reduce(next, sum, of(i));
    sum = next;
  }
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
