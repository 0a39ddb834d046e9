// reduce_scatter(_block)/circulant_ports: the reversal of allgather/circulant_ports.
//
// Idea      Partial results go the way back of an allgather's blocks, the longest distances first.
//           Up to `ports` messages of a level go at a time.
// Shape     any p; p blocks of any sizes.
// Cost      rounds as in the allgather, on one port and on several. A rank sends, receives and combines p - 1 blocks,
//           which is optimal.
// Scratch   the partial results, and ports + 1 buffers for what arrives.
// Order     operands combine in an order that depends on p only, up to rotation: commutative operators. A block is
//           combined once.
// Source    as allgather/circulant_ports.
#include "circoll/transform.hpp"
#include "patterns/costs.hpp"
#include "patterns/ported.hpp"

namespace {

using namespace circoll;

using patterns::upward_rounds;

int memory_of(const Shape& shape) { return patterns::memory_of_messages(patterns::value_of(shape, patterns::ports)); }

void build(Builder& b) {
  append_reversed(b, build_part(b, "allgatherv/circulant_ports", part_shape(b)), Reversal::reduce,
                  {.depth = memory_of(b.shape()), .gather_strays = false});
}

Cost cost(const Shape& shape) { return patterns::cost_of_reversal(shape, patterns::value_of(shape, patterns::ports)); }
std::int64_t levels(const Shape& shape) { return patterns::levels_of_reversal(upward_rounds(shape), memory_of(shape)); }
RoundsOnPorts on_ports(const Shape& shape, std::int64_t ports) {
  return patterns::at_once(patterns::waits_of_reversal(upward_rounds(shape), memory_of(shape)), ports);
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, circulant_ports) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "partial results on a circulant graph, several messages at a time; volume optimal for every p",
      .source = "Bar-Noy, Kipnis, Schieber 1993; Bruck et al. 1997; Traff, arXiv 2410.14234",
      .family = Family::circulant,
      .when = "never by cost: a round for every message on one port; ranks with several ports",
      .automatic = false,
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::ranks,
      .formula = {.rounds = patterns::gather_rounds_formula, .sent = "p-1", .reduced = "p-1"},
      .params = {patterns::ports},
      .cost = cost,
      .levels = levels,
      .on_ports = on_ports,
      .build = build,
  };
}
