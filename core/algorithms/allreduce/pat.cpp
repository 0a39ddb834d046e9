// allreduce/pat: reduce_scatter/pat, then allgather/pat, on p parts.
//
// Idea      The vector is cut into p parts; each is combined at one rank and then spread. In both halves many blocks go
//           near, and few go far.
// Shape     any p; p blocks, empty ones included (fewer elements than ranks).
// Cost      twice the rounds of allgather/pat: 2q where messages are not limited; 2(p-1) blocks sent and received,
//           p - 1 combined per rank: the optimal volume. One block copied: the part that was combined here is sent from
//           scratch, and does not wait to be in its place.
// Scratch   as reduce_scatter/pat, and a block.
// Order     commutative operators; same bits on all ranks, because each part is combined once.
// Source    S. Jeaugey, arXiv 2506.20252, for the two halves.
#include "patterns/pat.hpp"
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"

namespace {

using namespace circoll;

constexpr std::string_view first = "reduce_scatter/pat";
constexpr std::string_view second = "allgatherv/pat";

void build(Builder& b) {
  b.cut(b.size());
  if (b.size() == 1) return b.copy(b.output(), b.input());
  const Region own = b.region(b.scratch(1, b.rank()));
  b.embed(build_part(b, first, part_shape(b)), {.send = b.input(), .recv = own});
  b.embed(build_part(b, second, part_shape(b)), {.send = own, .recv = b.output()});
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = 2 * patterns::pat_rounds(shape),
          .sent = 2 * (p - 1),
          .received = 2 * (p - 1),
          .reduced = p - 1,
          .copied = p == 1 ? patterns::lonely_copy(shape) : 1};
}

CriticalPath path(const Shape& shape) { return patterns::path_by_parts(shape, first, second); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, pat) {
  return {
      .summary = "reduce_scatter/pat then allgather/pat; optimal volume for every p, few blocks go far",
      .source = "Jeaugey, arXiv 2506.20252",
      .family = Family::dissemination,
      .when = "several ranks on a node, p that is no multiple of them; every p on networks that are thin at the top",
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::parts,
      .formula = {.rounds = "2 sum(i, 0, q-1, ceil(floor((p-1+2^i)/2^(i+1))/aggregate))",
                  .sent = "2(p-1)",
                  .reduced = "p-1",
                  .blocks = "p"},
      .params = {patterns::aggregate},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
