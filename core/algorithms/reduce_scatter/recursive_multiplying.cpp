// reduce_scatter(_block)/recursive_multiplying: the reversal of allgather/recursive_multiplying.
//
// Idea      On a level the places that differ in one digit send to one another the partial results that the others go
//           on with, the largest groups first. Ranks beyond the places give their vector to the neighbour before, and
//           get their block after.
// Shape     any p; p blocks of any sizes.
// Cost      as many rounds as allgather/recursive_multiplying; p - 1 blocks sent. A rank receives and combines p - 1
//           blocks, and less than 2p more for a folded rank.
// Scratch   the vector at most, and `radix` arrival buffers.
// Order     operands of a level combine as they arrive in rounds: commutative operators. A block is combined once.
// Source    MPICH's recexch (recursive exchange). Differs: as allgather/recursive_multiplying.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/multiplying.hpp"

namespace {

using namespace circoll;

constexpr std::string_view forward = "allgatherv/recursive_multiplying";

void build(Builder& b) {
  const auto depth = static_cast<int>(b.param(patterns::radix_above_two.name, patterns::radix_above_two.fallback));
  append_reversed(b, build_part(b, forward, part_shape(b)), Reversal::reduce, {.depth = depth, .gather_strays = false});
}

Cost cost(const Shape& shape) {
  Cost cost = patterns::cost_of_reversed_bcast(shape, forward);
  cost.copied = shape.size == 1 ? 1 : 0;
  return cost;
}

CriticalPath path(const Shape& shape) { return patterns::path_of_reversed_bcast(shape, forward); }

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, recursive_multiplying) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "groups of radix ranks exchange partial results, the largest groups first",
      .source = "MPICH, coll/reduce_scatter",
      .family = Family::recursive_doubling,
      .when = "never by cost: not measured yet; short blocks, where a rank can have radix - 1 messages on their way",
      .automatic = false,
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = patterns::multiplying_rounds,
                  .sent = "p-1",
                  .reduced = "volume + (p-1) one_way/2",
                  .two_way = "rounds - one_way",
                  .one_way = patterns::multiplying_one_way,
                  .volume = patterns::multiplying_volume,
                  .one_way_volume = "p one_way/2",
                  .combined = "volume + p one_way/2"},
      .params = {patterns::radix_above_two},
      .cost = cost,
      .path = path,
      .levels = patterns::multiplying_levels,
      .on_ports = patterns::multiplying_parts_on_ports,
      .build = build,
  };
}
