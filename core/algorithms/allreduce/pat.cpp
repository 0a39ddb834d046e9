// allreduce/pat: reduce_scatter/pat, then allgather/pat, on p parts.
//
// Idea      The vector is cut into p parts; each is combined at one rank and then spread. In both halves many blocks go
//           near, and few go far.
// Shape     any p; p blocks, empty ones included (fewer elements than ranks).
// Cost      twice the rounds of allgather/pat: 2q where messages are not limited; 2(p-1) blocks sent and received,
//           p - 1 combined per rank: the optimal volume.
// Scratch   as reduce_scatter/pat.
// Order     commutative operators; same bits on all ranks, because each part is combined once.
// Source    S. Jeaugey, arXiv 2506.20252, for the two halves.
#include "patterns/pat.hpp"
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"

namespace {

using namespace circoll;

constexpr std::string_view first = "reduce_scatter/pat";
constexpr std::string_view second = "allgatherv/pat";

void build(Builder& b) { patterns::allreduce_by_parts(b, first, second); }
Cost cost(const Shape& shape) { return patterns::cost_by_parts(shape, first, second); }
CriticalPath path(const Shape& shape) { return patterns::path_by_parts(shape, first, second); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, pat) {
  return {
      .summary = "reduce_scatter/pat then allgather/pat; optimal volume for every p, few blocks go far",
      .source = "Jeaugey, arXiv 2506.20252",
      .family = Family::dissemination,
      .when = "never by cost: not measured yet; oversubscribed networks, by the simulator: few blocks go far",
      .automatic = false,
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::parts,
      .formula = {.rounds = patterns::twice_pat_rounds_formula, .sent = "2(p-1)", .reduced = "p-1", .blocks = "p"},
      .params = {patterns::aggregate},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
