// allreduce/circulant_ports: reduce_scatter/circulant_ports, then allgather/circulant_ports, on p parts.
//
// Idea      The vector is cut into p parts. Each is combined at one rank and then spread, in messages of which up to
//           `ports` go at a time.
// Shape     any p; p blocks, empty ones included.
// Cost      twice the rounds of the allgather, on one port and on several. A rank sends and receives 2(p-1) blocks and
//           combines p - 1, which is optimal.
// Scratch   as reduce_scatter/circulant_ports.
// Order     commutative operators; every part is combined once: same bits on all ranks.
// Source    as allgather/circulant_ports.
#include "patterns/composed.hpp"
#include "patterns/ported.hpp"

namespace {

using namespace circoll;

constexpr std::string_view first = "reduce_scatter/circulant_ports";
constexpr std::string_view second = "allgatherv/circulant_ports";

void build(Builder& b) { patterns::allreduce_by_parts(b, first, second); }
Cost cost(const Shape& shape) { return patterns::cost_by_parts(shape, first, second); }
CriticalPath path(const Shape& shape) { return patterns::path_by_parts(shape, first, second); }
std::int64_t levels(const Shape& shape) { return patterns::levels_by_parts(shape, first, second); }
RoundsOnPorts on_ports(const Shape& shape, std::int64_t ports) {
  return patterns::on_ports_by_parts(shape, ports, first, second);
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, circulant_ports) {
  return {
      .summary = "reduce_scatter/circulant_ports then allgather/circulant_ports; optimal volume for every p",
      .source = "Bar-Noy, Kipnis, Schieber 1993; Bruck et al. 1997; Traff, arXiv 2410.14234",
      .family = Family::circulant,
      .when = "never by cost: a round for every message on one port; ranks with several ports",
      .automatic = false,
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::parts,
      .formula = {.rounds = patterns::twice_gather_rounds_formula, .sent = "2(p-1)", .reduced = "p-1", .blocks = "p"},
      .params = {patterns::ports},
      .cost = cost,
      .path = path,
      .levels = levels,
      .on_ports = on_ports,
      .build = build,
  };
}
