// allreduce/recursive_doubling: whole vectors exchanged between ranks at distances 1, 2, 4, ...
//
// Idea      After k steps aligned groups of 2^k places know the sum of the group, on all its members, by the
//           same expression. If p is not a power of two, the first 2 (p - 2^L) ranks form pairs of
//           neighbours: the odd one gives its vector to the even one before, and gets the result after.
// Shape     any p; one block.
// Cost      L = floor(log2 p): L rounds, and 2 more unless p = 2^L; as many blocks sent and received; L
//           combined, and 1 more unless p = 2^L.
// Scratch   three blocks.
// Order     rank order: any associative operator; same bits on all ranks.
// Source    Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, 2005,
//           4.5. Differs: listings that pair rank n with n - 2^L lose the order of ranks; neighbours (MPICH,
//           Open MPI) keep it.
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"
#include "patterns/whole_vectors.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  patterns::exchange_whole_vectors(b, [](Rank place, int k) { return place ^ (Rank{1} << k); });
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, recursive_doubling) {
  return {
      .summary = "whole vectors between ranks at doubling distances; short vectors, any operator",
      .source = "Thakur, Rabenseifner, Gropp 2005",
      .family = Family::recursive_doubling,
      .when = "up to about 4 KiB, beyond the sizes of allgather_reduce: the same bits, operators that do not commute",
      .peers = {openmpi("recursive_doubling"), mpich("recursive_doubling"), ucc("knomial (radix 2)")},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = patterns::whole_vectors_formula,
      .cost = patterns::cost_of_whole_vectors,
      .path = patterns::path_of_whole_vectors,
      .levels = patterns::folding_levels,
      .build = build,
  };
}
