// allgather(v)/radix_bruck: every rank has `radix` times as many blocks after each level.
//
// Idea      After a level rank r has the blocks r .. r + radix u - 1 modulo p, u of which it had before. It sends the u
//           blocks to r - d u, and receives as many from r + d u, for 0 < d < radix. With a radix of 2 it is
//           allgather/bruck.
// Shape     any p; p blocks of any sizes.
// Cost      the sum over levels of min(radix, ceil(p / u)) - 1 rounds; p - 1 blocks sent and received per rank, which
//           is optimal. One block copied.
// Scratch   none.
// Order     no operator.
// Source    Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient Algorithms for All-to-All Communications, 1997, for
//           several ports; MPICH's k_brucks. Differs: as bruck.
#include "circoll/algorithm.hpp"
#include "patterns/bruck.hpp"

namespace {

using namespace circoll;
using patterns::radix_above_two;

void build(Builder& b) { patterns::allgather_by_digits(b, b.param(radix_above_two.name, radix_above_two.fallback)); }

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = patterns::KnomialTree(p, patterns::value_of(shape, radix_above_two)).rounds(),
          .sent = p - 1,
          .received = p - 1,
          .copied = shape.in_place ? 0 : 1};
}

RoundsOnPorts on_ports(const Shape& shape, std::int64_t ports) {
  const std::int64_t radix = patterns::value_of(shape, radix_above_two);
  return patterns::at_once(patterns::waits_of_gather(patterns::digit_rounds(shape.size, radix)), ports);
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, radix_bruck) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "cyclic ranges that grow by a factor, several messages on each level; short blocks",
      .source = "Bruck et al. 1997",
      .family = Family::dissemination,
      .when = "never by cost: not measured yet; short blocks, where the messages of a level overlap",
      .automatic = false,
      .peers = {mpich("k_brucks", {Collective::allgather})},
      .rotation = Rotation::ranks,
      .formula = {.rounds = patterns::rounds_by_digits, .sent = "p-1", .reduced = "0"},
      .params = {radix_above_two},
      .cost = cost,
      .levels = patterns::levels_by_digits,
      .on_ports = on_ports,
      .build = build,
  };
}
