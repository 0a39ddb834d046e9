// allreduce/segmented_ring: allreduce/ring whose parts are cut into segments that follow one another.
//
// Idea      A message of the ring waits for the message before it to arrive and to be combined. With n
//           segments per part it only waits for its own segment, n rounds earlier: the steps of the ring
//           overlap, and segments are combined while others travel.
// Shape     any p; n p blocks, n = segments, empty ones included.
// Cost      2n(p-1) rounds; 2n(p-1) blocks sent and received, n(p-1) combined per rank.
// Scratch   three parts, in turn.
// Order     as allreduce/ring: commutative operators; same bits on all ranks.
// Source    Open MPI, coll/base, allreduce_intra_ring_segmented. Differs: there a phase of the ring runs per
//           segment of the vector, and only the reduce_scatter overlaps.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

constexpr ParamDeclaration segments = patterns::segments_of("segments of each of the p parts", 2);

void build(Builder& b) { patterns::allreduce_by_ring(b, b.param(segments.name, segments.fallback)); }

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  const Rank p = shape.size;
  return {.rounds = 2 * n * (p - 1),
          .sent = 2 * n * (p - 1),
          .received = 2 * n * (p - 1),
          .reduced = n * (p - 1),
          .copied = n * patterns::lonely_copy(shape)};
}

CriticalPath path(const Shape& shape) {
  const Cost sum = cost(shape);
  return {.blocks = patterns::value_of(shape, segments) * shape.size, .volume = sum.sent, .combined = sum.reduced};
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, segmented_ring) {
  return {
      .summary = "ring whose parts are cut into segments, so that transfers and combinations overlap",
      .source = "Open MPI, coll/base",
      .family = Family::ring,
      .when =
          "never by cost: ring has n times fewer rounds. Measured at 100 Mbit/s, 11 and 16 hosts: from 90 KiB on, "
          "where a segment is combined while another travels",
      .peers = {openmpi("segmented_ring")},
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::parts,
      .formula = {.rounds = "2n(p-1)", .sent = "2n(p-1)", .reduced = "n(p-1)", .blocks = "n p"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
