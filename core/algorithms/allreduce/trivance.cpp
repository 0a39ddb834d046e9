// allreduce/trivance: reduce_scatter/trivance, then allgather/trivance, on p parts.
//
// Idea      The vector is cut into p parts. Each is combined at one rank and then spread, two messages at a time.
// Shape     any p; p blocks, empty ones included.
// Cost      twice the rounds of the allgather, on one port and on several. A rank sends and receives 2(p-1) blocks and
//           combines p - 1, which is optimal.
// Scratch   as reduce_scatter/trivance.
// Order     commutative operators; every part is combined once: same bits on all ranks.
// Source    as allgather/trivance.
//           The paper's other variant exchanges whole vectors. recursive_multiplying:radix=3 takes as few rounds for
//           that where p is a power of 3, with the same bits on all ranks.
#include "patterns/composed.hpp"
#include "patterns/ported.hpp"

namespace {

using namespace circoll;

constexpr std::string_view first = "reduce_scatter/trivance";
constexpr std::string_view second = "allgatherv/trivance";

void build(Builder& b) { patterns::allreduce_by_parts(b, first, second); }
Cost cost(const Shape& shape) { return patterns::cost_by_parts(shape, first, second); }
CriticalPath path(const Shape& shape) { return patterns::path_by_parts(shape, first, second); }
std::int64_t levels(const Shape& shape) { return patterns::levels_by_parts(shape, first, second); }
RoundsOnPorts on_ports(const Shape& shape, std::int64_t ports) {
  return patterns::on_ports_by_parts(shape, ports, first, second);
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, trivance) {
  return {
      .summary = "reduce_scatter/trivance then allgather/trivance; optimal volume for every p",
      .source = "Juerss, Addanki, Schmid, arXiv 2602.17254",
      .family = Family::circulant,
      .when = "never by cost: a round for every message on one port; two ports, rings and tori",
      .automatic = false,
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::parts,
      .formula = {.rounds = patterns::twice_two_sided_rounds_formula,
                  .sent = "2(p-1)",
                  .reduced = "p-1",
                  .blocks = "p"},
      .cost = cost,
      .path = path,
      .levels = levels,
      .on_ports = on_ports,
      .build = build,
  };
}
