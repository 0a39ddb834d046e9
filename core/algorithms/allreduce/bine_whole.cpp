// allreduce/bine_whole: whole vectors exchanged between ranks at the distances ..., 11, 5, 3, 1, 1.
//
// Idea      The steps of allreduce/recursive_doubling with other partners: to both sides in turn, a third closer. If p
//           is not a power of two, the first 2 (p - 2^L) ranks form pairs of neighbours, as there.
// Shape     any p; one block.
// Cost      L = floor(log2 p): L rounds, and 2 more unless p = 2^L; as many blocks sent and received; L
//           combined, and 1 more unless p = 2^L.
// Scratch   three blocks.
// Order     groups of ranks go around the end: commutative operators; same bits on all ranks.
// Source    Partners of De Sensi et al., Bine Trees, SC 2025. Swing (NSDI 2024) has the same exchanges for few bytes,
//           the shortest distance first. Differs: the longest distance comes first. In the order of Swing groups
//           overlap and ranks get different bits from p = 8 on: the proof of same_bits refutes it. Ranks beyond a power
//           of two are folded, as in recursive_doubling.
#include "circoll/algorithm.hpp"
#include "patterns/bine.hpp"
#include "patterns/whole_vectors.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::Folding folding(b.size());
  patterns::exchange_whole_vectors(
      b, [&](Rank place, int k) { return patterns::bine_partner(place, folding.levels() - 1 - k, folding.places()); });
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, bine_whole) {
  return {
      .summary = "whole vectors between ranks ..., 5, 3, 1, 1 apart; short vectors",
      .source = "De Sensi et al., Bine Trees, SC 2025",
      .family = Family::recursive_doubling,
      .when = "never by cost: no price for distance; short vectors: as fast as recursive_doubling, a third closer",
      .automatic = false,
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = patterns::whole_vectors_formula,
      .cost = patterns::cost_of_whole_vectors,
      .path = patterns::path_of_whole_vectors,
      .build = build,
  };
}
