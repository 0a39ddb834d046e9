// allreduce/bine: reduce_scatter/bine, then allgather/bine, on p parts.
//
// Idea      Messages are cyclic ranges, as in allreduce/circulant_optimal, between partners that are a third closer
//           than in a hypercube.
// Shape     even p; p blocks, empty ones included (fewer elements than ranks).
// Cost      2q rounds, q = ceil(log2 p); 2(p-1) blocks sent and received, p - 1 combined per rank: the optimal volume.
// Scratch   as reduce_scatter/bine.
// Order     commutative operators; same bits on all ranks, because each part is combined once.
// Source    De Sensi et al., Bine Trees, SC 2025. Differs: any even p, as allgather/bine.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

constexpr std::string_view first = "reduce_scatter/bine";
constexpr std::string_view second = "allgatherv/bine";

void build(Builder& b) { patterns::allreduce_by_parts(b, first, second); }
Cost cost(const Shape& shape) { return patterns::cost_by_parts(shape, first, second); }
CriticalPath path(const Shape& shape) { return patterns::path_by_parts(shape, first, second); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, bine) {
  return {
      .summary = "reduce_scatter/bine then allgather/bine: cyclic ranges between partners a third closer",
      .source = "De Sensi et al., Bine Trees, SC 2025",
      .family = Family::recursive_doubling,
      .when = "never by cost: no price for distance; as fast as circulant_optimal, but most blocks go far",
      .automatic = false,
      .needs = {.commutative = true, .even_size = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "2q", .sent = "2(p-1)", .reduced = "p-1", .blocks = "p"},
      .cost = cost,
      .path = path,
      .levels = patterns::twice_doubling_levels,
      .build = build,
  };
}
