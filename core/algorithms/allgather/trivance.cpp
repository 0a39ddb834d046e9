// allgather(v)/trivance: every rank collects the blocks of its neighbours on both sides, two messages at a time.
//
// Idea      circulant_ports for two ports, on both sides. A rank has an interval of s blocks around its own one. It
//           gets one part of the next s' - s from rank r + s and the other one from r - s, where s = ceil(s' / 3). It
//           sends both what they lack. No message goes further than p / 3, and the two go in both directions of a ring.
// Shape     any p; p blocks of any sizes.
// Cost      at most 2 ceil(log3 p) rounds on one port, ceil(log3 p) on two. A rank sends and receives p - 1 blocks,
//           which is optimal, and ceil((s' - s) / 2) at most in each message. One is copied.
// Order     no operator.
// Source    A. Juerss, V. Addanki, S. Schmid: Trivance: Latency-optimal AllReduce by shortcutting multiport networks,
//           arXiv 2602.17254, 2026. Differs: skips for every p, as circulant_ports has them, and parts of intervals
//           where p is no power of 3.
#include "patterns/ported.hpp"

namespace {

using namespace circoll;

using patterns::two_sided_rounds;

void build(Builder& b) { patterns::gather_by_rounds(b, two_sided_rounds(b.shape())); }
Cost cost(const Shape& shape) { return patterns::cost_of_gather(shape, 2); }
std::int64_t levels(const Shape& shape) { return patterns::levels_of_gather(two_sided_rounds(shape)); }
RoundsOnPorts on_ports(const Shape& shape, std::int64_t ports) {
  return patterns::at_once(patterns::waits_of_gather(two_sided_rounds(shape)), ports);
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, trivance) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "intervals that triple on both sides, two messages at a time; volume optimal for every p",
      .source = "Juerss, Addanki, Schmid, arXiv 2602.17254",
      .family = Family::circulant,
      .when = "never by cost: a round for every message on one port; two ports, rings and tori",
      .automatic = false,
      .rotation = Rotation::ranks,
      .formula = {.rounds = patterns::two_sided_rounds_formula, .sent = "p-1", .reduced = "0"},
      .cost = cost,
      .levels = levels,
      .on_ports = on_ports,
      .build = build,
  };
}
