// allreduce/circulant_optimal: reduce_scatter/circulant_optimal, then allgather/circulant_optimal, on p parts.
//
// Idea      The vector is cut into p parts; each is combined at one rank and then spread. Every part is combined once,
//           so all ranks get the same bits.
// Shape     any p; p blocks, empty ones included (fewer elements than ranks).
// Cost      2q rounds, q = ceil(log2 p); 2(p-1) blocks sent and received, p - 1 combined per rank: 2(p-1)/p m is the
//           optimal volume.
// Scratch   as reduce_scatter/circulant_optimal.
// Order     commutative operators; same bits on all ranks.
// Source    J. L. Traff, arXiv 2410.14234.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

constexpr std::string_view first = "reduce_scatter/circulant_optimal";
constexpr std::string_view second = "allgatherv/circulant_optimal";

void build(Builder& b) { patterns::allreduce_by_parts(b, first, second); }
Cost cost(const Shape& shape) { return patterns::cost_by_parts(shape, first, second); }
CriticalPath path(const Shape& shape) { return patterns::path_by_parts(shape, first, second); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, circulant_optimal) {
  return {
      .summary = "reduce_scatter/circulant_optimal then allgather/circulant_optimal; optimal volume for every p",
      .source = "Traff, arXiv 2410.14234",
      .family = Family::circulant,
      .when = "from about 8 KiB on (p = 2: 128 KiB), every p, operators that commute: 2q rounds, least volume",
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::parts,
      .formula = {.rounds = "2 ceil(log2 p)", .sent = "2(p-1)", .reduced = "p-1", .blocks = "p"},
      .cost = cost,
      .path = path,
      .levels = patterns::twice_doubling_levels,
      .build = build,
  };
}
