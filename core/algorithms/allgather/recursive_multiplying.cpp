// allgather(v)/recursive_multiplying: groups of `radix` ranks exchange all that they have, level by level.
//
// Idea      On a level the places that differ in one digit send to one another the blocks of the runs of places around
//           them. Ranks beyond the places (patterns/multiplying.hpp) give their block to the neighbour before, and get
//           all blocks after.
// Shape     any p; p blocks of any sizes.
// Cost      (radix - 1) e + m - 1 rounds, and 2 more if ranks are folded: radix^e <= p < radix^(e+1), m =
//           floor(p / radix^e). A rank receives p - 1 blocks. It sends p - 1, and less than 2p more for a folded rank.
//           One block copied.
// Scratch   none.
// Order     no operator.
// Source    MPICH's recexch (recursive exchange), which folds ranks onto a power of the radix. Differs: as
//           allreduce/recursive_multiplying.
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"
#include "patterns/multiplying.hpp"

namespace {

using namespace circoll;
using patterns::Multiplying;
using patterns::radix_above_two;

void build(Builder& b) {
  const Multiplying places(b.size(), b.param(radix_above_two.name, radix_above_two.fallback));
  const patterns::PairFolding& folding = places.folding();
  const auto after = static_cast<std::uint32_t>(places.folds());
  const Rank r = b.rank();
  const Rank partner = folding.partner(r);
  b.copy(b.output(r, 1), b.input());
  if (folding.removed(r)) {
    b.send(partner, b.input());
    b.next_round(after + static_cast<std::uint32_t>(places.rounds()));
    b.recv(partner, b.output((r + 1) % b.size(), b.size() - 1));
    return b.next_round(after);
  }
  if (folding.paired(r)) b.recv(partner, b.output(partner, 1));
  b.next_round(after);
  const Rank place = folding.place_of(r);
  for (const Multiplying::Level& level : places.levels()) {
    const Rank unit = level.unit;
    const Rank members = level.members;
    const Rank member = place / unit % members;
    const auto blocks = [&](Rank of) {
      const Rank begin = (place / (unit * members) * members + of) * unit;
      const Rank first = folding.ranks_below(begin);
      return b.output(first, folding.ranks_below(begin + unit) - first);
    };
    // The first messages do not wait for the local copy.
    const Region out = unit == 1 && !folding.paired(r) ? b.input() : blocks(member);
    for (Rank d = 1; d < members; ++d) {
      const Rank to = (member + d) % members;
      const Rank from = (member + members - d) % members;
      b.sendrecv(folding.rank_at(place + (to - member) * unit), out, folding.rank_at(place + (from - member) * unit),
                 blocks(from));
      b.next_round();
    }
  }
  if (folding.paired(r)) b.send(partner, b.output((partner + 1) % b.size(), b.size() - 1));
  b.next_round(after);
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  const RoundsOnPorts one_port = patterns::multiplying_parts_on_ports(shape, 1);
  return {.rounds = one_port.rounds,
          .sent = one_port.volume + (p - 1) * one_port.one_way / 2,
          .received = p - 1,
          .copied = shape.in_place ? 0 : 1};
}

CriticalPath path(const Shape& shape) {
  const RoundsOnPorts one_port = patterns::multiplying_parts_on_ports(shape, 1);
  return {.blocks = shape.size,
          .one_way = one_port.one_way,
          .volume = one_port.volume,
          .one_way_volume = one_port.one_way_volume};
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, recursive_multiplying) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "groups of radix ranks exchange all that they have, level by level",
      .source = "MPICH, coll/allgather",
      .family = Family::recursive_doubling,
      .when = "never by cost: not measured yet; short blocks, where a rank can have radix - 1 messages on their way",
      .automatic = false,
      .formula = {.rounds = patterns::multiplying_rounds,
                  .sent = "volume + (p-1) one_way/2",
                  .reduced = "0",
                  .two_way = "rounds - one_way",
                  .one_way = patterns::multiplying_one_way,
                  .volume = patterns::multiplying_volume,
                  .one_way_volume = "p one_way/2"},
      .params = {radix_above_two},
      .cost = cost,
      .path = path,
      .levels = patterns::multiplying_levels,
      .on_ports = patterns::multiplying_parts_on_ports,
      .build = build,
  };
}
