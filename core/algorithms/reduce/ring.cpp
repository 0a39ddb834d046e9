// reduce/ring: reduce_scatter/ring on p parts of the vector, then gather/linear to the root.
//
// Idea      Every part is combined once, on its way around the ring; then all ranks send their part to the
//           root.
// Shape     any p, any root; p blocks, empty ones included.
// Cost      2(p-1) rounds; p blocks sent by ranks other than the root, 2(p-1) received by the root, p - 1
//           combined per rank.
// Scratch   four blocks.
// Order     for part b: ranks b + 1, b + 2, ..., b: commutative operators.
// Source    Rabenseifner 2004, ring algorithm. Differs: there the reduce_scatter is the pairwise exchange, in
//           which own contributions travel; both need p - 1 rounds and volume (p-1)/p m.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::reduce_by_parts(b, "reduce_scatter/ring"); }

}  // namespace

CIRCOLL_ALGORITHM(reduce, ring) {
  return {
      .summary = "ring reduce_scatter, then linear gather; long vectors, p not a power of two",
      .source = "Rabenseifner 2004",
      .family = Family::ring,
      .when = "p = 3, 32 to 256 KiB, operators that commute; else circulant_pipelined is faster",
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "2(p-1)",
                  .sent = "p",
                  .reduced = "p-1",
                  .blocks = "p",
                  .two_way = "p-1",
                  .one_way = "p-1",
                  .volume = "p-1",
                  .one_way_volume = "p-1"},
      .cost = patterns::cost_of_reduce_by_parts,
      .path = patterns::path_of_reduce_by_parts,
      .build = build,
  };
}
