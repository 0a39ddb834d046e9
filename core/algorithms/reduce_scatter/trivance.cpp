// reduce_scatter(_block)/trivance: the reversal of allgather/trivance.
//
// Idea      Partial results go the way back of an allgather's blocks, the longest distances first.
//           The two messages of a level go at a time.
// Shape     any p; p blocks of any sizes.
// Cost      rounds as in the allgather, on one port and on several. A rank sends, receives and combines p - 1 blocks,
//           which is optimal.
// Scratch   the partial results, and three buffers for what arrives.
// Order     operands combine in an order that depends on p only, up to rotation: commutative operators. A block is
//           combined once.
// Source    as allgather/trivance.
#include "circoll/transform.hpp"
#include "patterns/ported.hpp"

namespace {

using namespace circoll;

using patterns::two_sided_rounds;

constexpr int memory = patterns::memory_of_messages(2);

void build(Builder& b) {
  append_reversed(b, build_part(b, "allgatherv/trivance", part_shape(b)), Reversal::reduce,
                  {.depth = memory, .gather_strays = false});
}

Cost cost(const Shape& shape) { return patterns::cost_of_reversal(shape, 2); }
std::int64_t levels(const Shape& shape) { return patterns::levels_of_reversal(two_sided_rounds(shape), memory); }
RoundsOnPorts on_ports(const Shape& shape, std::int64_t ports) {
  return patterns::at_once(patterns::waits_of_reversal(two_sided_rounds(shape), memory), ports);
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, trivance) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "partial results of both sides, two messages at a time; volume optimal for every p",
      .source = "Juerss, Addanki, Schmid, arXiv 2602.17254",
      .family = Family::circulant,
      .when = "never by cost: a round for every message on one port; two ports, rings and tori",
      .automatic = false,
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::ranks,
      .formula = {.rounds = patterns::two_sided_rounds_formula, .sent = "p-1", .reduced = "p-1"},
      .cost = cost,
      .levels = levels,
      .on_ports = on_ports,
      .build = build,
  };
}
