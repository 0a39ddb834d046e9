#include "patterns/forwarding.hpp"

#include "patterns/circulant.hpp"

namespace circoll::patterns {
namespace {

/// A parcel at this place: how far behind this place its source lies, and its slots.
struct HeldParcel {
  Rank source_distance = 0;
  Region slots{};
};

}  // namespace

std::vector<ForwardingRound> rounds_by_digits_of(Rank places, std::int64_t base) {
  std::vector<ForwardingRound> rounds;
  for (Rank unit = 1; unit < places; unit *= base) {
    for (Rank skip = unit; skip < unit * base && skip < places; skip += unit) {
      auto& round = rounds.emplace_back(ForwardingRound{.skip = skip});
      // Lower digits have been travelled.
      for (Rank d = skip; d < places; d += unit * base) round.distances.push_back(d);
    }
  }
  return rounds;
}

void forward(Builder& b, const std::vector<ForwardingRound>& rounds, const Parcels& parcels) {
  const Rank places = parcels.places;
  const Rank here = parcels.here;
  // waiting[i]: the parcels that must still go i places further. The same at all places except for the slots.
  std::vector<std::vector<HeldParcel>> waiting(static_cast<std::size_t>(places));
  for (Rank i = 1; i < places; ++i) {
    waiting[static_cast<std::size_t>(i)].push_back({0, parcels.outgoing((here + i) % places)});
  }
  for (const ForwardingRound& round : rounds) {
    Region out;
    std::vector<Block> passing;  // blocks that this rank will send on
    std::vector<Slot> ends;      // of the parcels that they are of
    for (const Rank distance : round.distances) {
      const Rank target = mod(here + distance - round.skip, places);
      for (const HeldParcel& held : waiting[static_cast<std::size_t>(distance)]) {
        out.append(held.slots);
        if (distance == round.skip) continue;
        parcels.blocks(mod(here - held.source_distance - round.skip, places), target, passing);
        ends.push_back(static_cast<Slot>(passing.size()));
      }
    }
    const std::int32_t scratch = passing.empty() ? -1 : b.scratch(std::move(passing));
    Region in;
    Slot next = 0;
    std::size_t parcel = 0;
    for (const Rank distance : round.distances) {
      const Rank rest = distance - round.skip;
      for (const HeldParcel& held : waiting[static_cast<std::size_t>(distance)]) {
        const Rank source_distance = held.source_distance + round.skip;
        if (rest == 0) {
          in.append(parcels.incoming(mod(here - source_distance, places)));
        } else {
          const Range slots{scratch, next, ends[parcel++] - next};
          next += slots.count;
          in.append(slots);
          waiting[static_cast<std::size_t>(rest)].push_back({source_distance, slots});
        }
      }
      waiting[static_cast<std::size_t>(distance)].clear();
    }
    b.sendrecv(parcels.rank_at((here + round.skip) % places), out, parcels.rank_at(mod(here - round.skip, places)), in);
    b.next_round();
  }
}

void alltoall_by_forwarding(Builder& b, const std::vector<ForwardingRound>& rounds) {
  const Rank p = b.size();
  const Rank r = b.rank();
  b.copy(b.output(r, 1), b.input(r, 1));
  forward(b, rounds,
          {.places = p,
           .here = r,
           .rank_at = [](Rank place) { return place; },
           .outgoing = [&](Rank target) { return b.input(target, 1); },
           .incoming = [&](Rank source) { return b.output(source, 1); },
           .blocks = [p](Rank source, Rank target, std::vector<Block>& all) { all.push_back(source * p + target); }});
}

}  // namespace circoll::patterns
