// scan/linear: a chain; every rank adds its contribution and tells the next one.
//
// Idea      Rank r receives the result of rank r - 1, combines it with its own contribution, and sends that on.
// Shape     any p; one block.
// Cost      p - 1 rounds; one block sent, received and combined per rank.
// Scratch   one block.
// Order     rank order: any associative operator.
// Source    folklore; Open MPI's linear.
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  b.next_round(static_cast<std::uint32_t>(r > 0 ? r - 1 : 0));
  if (r == 0) {
    b.copy(b.output(), b.input());
  } else {
    const Region before = b.region(b.scratch_like(b.input()));
    b.recv(r - 1, before);
    b.reduce(b.output(), before, b.input());
    b.next_round();
  }
  if (r < p - 1) {
    b.send(r + 1, r == 0 ? b.input() : b.output());
    b.next_round(static_cast<std::uint32_t>(p - 1 - r));
  }
}

Cost cost(const Shape& shape) {
  const std::int64_t one = shape.size > 1 ? 1 : 0;
  return {.rounds = shape.size - 1, .sent = one, .received = one, .reduced = one, .copied = shape.in_place ? 0 : 1};
}

CriticalPath path(const Shape& shape) {
  const Rank p = shape.size;
  return patterns::one_way_path(1, p - 1, p - 1, p - 1);
}

}  // namespace

CIRCOLL_ALGORITHM(scan, linear) {
  return {
      .summary = "a chain of ranks",
      .source = "folklore",
      .family = Family::chain,
      .when = "p = 2, and p = 3 up to 8 KiB; else doubling or pipeline is as fast or faster",
      .peers = {openmpi("linear")},
      .guarantees = {.rank_order = true},
      .formula =
          patterns::one_way({.rounds = "p-1", .sent = "1", .reduced = "1", .one_way = "p-1", .combined = "p-1"}, "p-1"),
      .cost = cost,
      .path = path,
      .build = build,
  };
}
