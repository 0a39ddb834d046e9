// barrier/tree: up a binomial tree, and down again.
//
// Idea      allreduce/binomial of nothing.
// Shape     any p; one block of no bytes. The executors send these messages although they are empty.
// Cost      2q rounds, q = ceil(log2 p); rank 0 sends and receives q messages.
// Scratch   three blocks of no bytes.
// Order     none.
// Source    folklore; Open MPI, coll/base, barrier_intra_tree.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  b.embed(build_schedule("allreduce/binomial", {.size = b.size(), .rank = b.rank()}),
          {.send = b.input(), .recv = b.output()});
}

Cost cost(const Shape& shape) {
  const std::int64_t q = patterns::ceil_log2(shape.size);
  return {.rounds = 2 * q, .sent = q, .received = q, .reduced = q, .copied = q == 0 ? 1 : 0};
}

}  // namespace

CIRCOLL_ALGORITHM(barrier, tree) {
  static const Algorithm algorithm{
      .collectives = {Collective::barrier},
      .name = "tree",
      .summary = "up a binomial tree and down again",
      .source = "folklore",
      .formula = {.rounds = "2q", .sent = "q", .reduced = "q"},
      .cost = cost,
      .build = build,
  };
  return algorithm;
}
