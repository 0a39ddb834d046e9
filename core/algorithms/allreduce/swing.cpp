// allreduce/swing: reduce_scatter/swing, then allgather/swing, on p parts.
//
// Idea      Long messages go to neighbours, and short ones go far, in both halves.
// Shape     even p; p blocks, empty ones included (fewer elements than ranks).
// Cost      2q rounds, q = ceil(log2 p); 2(p-1) blocks sent and received, p - 1 combined per rank: the optimal volume.
// Scratch   as reduce_scatter/swing.
// Order     commutative operators; same bits on all ranks, because each part is combined once.
// Source    De Sensi et al., Swing, NSDI 2024; for even p the authors' code, as allgather/swing.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"

namespace {

using namespace circoll;

constexpr std::string_view first = "reduce_scatter/swing";
constexpr std::string_view second = "allgatherv/swing";

void build(Builder& b) { patterns::allreduce_by_parts(b, first, second); }
Cost cost(const Shape& shape) { return patterns::cost_by_parts(shape, first, second); }
CriticalPath path(const Shape& shape) { return patterns::path_by_parts(shape, first, second); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, swing) {
  return {
      .summary = "reduce_scatter/swing then allgather/swing; long messages go to neighbours, short ones far",
      .source = "De Sensi et al., Swing, NSDI 2024",
      .family = Family::recursive_doubling,
      .when = "never by cost: not measured yet; oversubscribed networks, by the simulator: few blocks go far",
      .automatic = false,
      .needs = {.commutative = true, .even_size = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "2q", .sent = "2(p-1)", .reduced = "p-1", .blocks = "p"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
