// allreduce/binomial: reduce/binomial to rank 0, then bcast/binomial from it.
//
// Idea      For short vectors and operators of any kind; half of the ranks idle in every round but the middle
//           ones.
// Shape     any p; one block.
// Cost      2q rounds, q = ceil(log2 p); q blocks sent, received and combined by rank 0.
// Scratch   three blocks.
// Order     rank order: any associative operator; one rank computes the result: same bits on all ranks.
// Source    Rabenseifner 2004, section on the protocols of MPI libraries.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::allreduce_by_root(b, "reduce/binomial", "bcast/binomial"); }

Cost cost(const Shape& shape) {
  const std::int64_t q = patterns::ceil_log2(shape.size);
  return {.rounds = 2 * q, .sent = q, .received = q, .reduced = q, .copied = patterns::lonely_copy(shape)};
}

CriticalPath path(const Shape& shape) { return patterns::path_by_root(shape, "reduce/binomial", "bcast/binomial"); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, binomial) {
  return {
      .summary = "binomial reduce to rank 0, then binomial bcast",
      .source = "Rabenseifner 2004",
      .family = Family::tree,
      .when = "never by cost: 2q one-way rounds, where recursive_doubling has fewer and allgather_reduce q",
      .peers = {mpich("tsp_tree")},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = patterns::one_way({.rounds = "2 ceil(log2 p)", .sent = "q", .reduced = "q", .one_way = "2q"}, "2q"),
      .cost = cost,
      .path = path,
      .levels = patterns::twice_binomial_levels,
      .build = build,
  };
}
