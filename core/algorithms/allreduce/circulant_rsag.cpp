// allreduce/circulant_rsag: the paper's reduce_scatter, then its allgatherv, on p parts of the vector.
//
// Idea      For long vectors: volume 2 (p-1)/p m or a little more, instead of q m.
// Shape     any p; p blocks, empty ones included.
// Cost      2q rounds, q = ceil(log2 p); 2^q - 1 + p - 1 blocks sent and received, p - 1 combined per rank.
// Scratch   as the parts.
// Order     commutative operators; every part is combined once: same bits on all ranks.
// Source    Traff et al., Uniform Algorithms, III-G.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"

namespace {

using namespace circoll;

constexpr std::string_view first = "reduce_scatter/circulant";
constexpr std::string_view second = "allgatherv/circulant";

void build(Builder& b) { patterns::allreduce_by_parts(b, first, second); }
Cost cost(const Shape& shape) { return patterns::cost_by_parts(shape, first, second); }
CriticalPath path(const Shape& shape) { return patterns::path_by_parts(shape, first, second); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, circulant_rsag) {
  return {
      .summary = "the paper's reduce_scatter then allgatherv",
      .source = "Traff et al., Uniform Algorithms, III-G",
      .family = Family::circulant,
      .when =
          "never by cost: circulant_optimal has the same rounds and less volume unless p is a power of two; it is the "
          "construction of the paper",
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::parts,
      .formula = {.rounds = "2 ceil(log2 p)", .sent = "2^q-1 + p-1", .reduced = "p-1", .blocks = "p"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
