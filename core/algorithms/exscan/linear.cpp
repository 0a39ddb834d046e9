// exscan/linear: a chain; every rank adds its contribution to what came before and tells the next one.
//
// Idea      Rank r receives its result from rank r - 1, and sends it on combined with its own contribution.
// Shape     any p; one block.
// Cost      p - 1 rounds; one block sent and received per rank; one combined by the inner ranks. In place they also
//           copy one: their contribution lies where the result will.
// Scratch   one block; two in place.
// Order     rank order: any associative operator.
// Source    folklore; Open MPI's linear.
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  const bool last = r == p - 1;
  Region sum = b.input();
  Region before;
  b.next_round(static_cast<std::uint32_t>(r > 0 ? r - 1 : 0));
  if (r > 0) {
    before = b.shape().in_place && !last ? b.region(b.scratch_like(b.input())) : b.output();
    b.recv(r - 1, before);
    b.next_round();
  }
  if (last) return;
  if (r > 0) {
    sum = b.region(b.scratch_like(b.input()));
    b.reduce(sum, before, b.input());
  }
  b.send(r + 1, sum);
  b.next_round(static_cast<std::uint32_t>(p - 1 - r));
  if (r > 0) b.copy(b.output(), before);
}

Cost cost(const Shape& shape) {
  const std::int64_t one = shape.size > 1 ? 1 : 0;
  const std::int64_t inner = shape.size > 2 ? 1 : 0;
  return {
      .rounds = shape.size - 1, .sent = one, .received = one, .reduced = inner, .copied = shape.in_place ? inner : 0};
}

CriticalPath path(const Shape& shape) {
  const Rank p = shape.size;
  return patterns::one_way_path(1, p - 1, p - 1, std::max<Rank>(p - 2, 0));
}

}  // namespace

CIRCOLL_ALGORITHM(exscan, linear) {
  return {
      .summary = "a chain of ranks",
      .source = "folklore",
      .family = Family::chain,
      .when = "p = 3, up to 16 KiB; else pipeline or doubling is as fast or faster",
      .peers = {openmpi("linear")},
      .guarantees = {.rank_order = true},
      .formula = patterns::one_way(
          {.rounds = "p-1", .sent = "1", .reduced = "[p>2]", .one_way = "p-1", .combined = "p-2"}, "p-1"),
      .cost = cost,
      .path = path,
      .build = build,
  };
}
