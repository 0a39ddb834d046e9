// allgather(v)/circulant_ports: every rank collects the blocks of the ranks after it, `ports` messages at a time.
//
// Idea      circulant_optimal for k ports. R[i] names block (r + i) mod p. Before a level rank r has R[0 .. s - 1],
//           after it R[0 .. s' - 1], where s = ceil(s' / (k + 1)). Up to k messages bring R[s .. s' - 1] in equal
//           parts. Each of them is the end of what its sender has. They do not wait for one another.
// Shape     any p; p blocks of any sizes.
// Cost      the sum over levels of min(k, s' - s) rounds on one port, ceil(log_{k+1} p) on k ports. A rank sends and
//           receives p - 1 blocks, which is optimal, and ceil((s' - s) / k) at most in each message. One is copied.
// Order     no operator.
// Source    A. Bar-Noy, S. Kipnis, B. Schieber: An optimal algorithm for computing census functions in message-passing
//           systems, 1993, has the graph. Bruck, Ho, Kipnis, Upfal, Weathersby 1997 have k ports. J. L. Traff, arXiv
//           2410.14234, has skips for every p. Differs: skips are divided by k + 1, and the blocks of a level among
//           all ports.
#include "patterns/costs.hpp"
#include "patterns/ported.hpp"

namespace {

using namespace circoll;

using patterns::upward_rounds;

void build(Builder& b) { patterns::gather_by_rounds(b, upward_rounds(b.shape())); }
Cost cost(const Shape& shape) { return patterns::cost_of_gather(shape, patterns::value_of(shape, patterns::ports)); }
std::int64_t levels(const Shape& shape) { return patterns::levels_of_gather(upward_rounds(shape)); }
RoundsOnPorts on_ports(const Shape& shape, std::int64_t ports) {
  return patterns::at_once(patterns::waits_of_gather(upward_rounds(shape)), ports);
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, circulant_ports) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "cyclic ranges that grow by ports + 1: several messages at a time, volume optimal for every p",
      .source = "Bar-Noy, Kipnis, Schieber 1993; Bruck et al. 1997; Traff, arXiv 2410.14234",
      .family = Family::circulant,
      .when = "never by cost: a round for every message on one port; ranks with several ports",
      .automatic = false,
      .rotation = Rotation::ranks,
      .formula = {.rounds = patterns::gather_rounds_formula, .sent = "p-1", .reduced = "0"},
      .params = {patterns::ports},
      .cost = cost,
      .levels = levels,
      .on_ports = on_ports,
      .build = build,
  };
}
