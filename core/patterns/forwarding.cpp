#include "patterns/forwarding.hpp"

#include "patterns/circulant.hpp"

namespace circoll::patterns {
namespace {

/// A block at this rank: how far behind this rank its source lies, and its slot.
struct HeldBlock {
  Rank source_distance = 0;
  std::int32_t buffer = send_buffer;
  Slot slot = 0;
};

}  // namespace

void alltoall_by_forwarding(Builder& b, const std::vector<ForwardingRound>& rounds) {
  const Rank p = b.size();
  const Rank r = b.rank();
  b.copy(b.output(r, 1), b.input(r, 1));
  // waiting[i]: the blocks that must still go i ranks further. The same on all ranks except for the places.
  std::vector<std::vector<HeldBlock>> waiting(static_cast<std::size_t>(p));
  for (Rank i = 1; i < p; ++i) waiting[static_cast<std::size_t>(i)].push_back({0, send_buffer, (r + i) % p});
  for (const ForwardingRound& round : rounds) {
    Region out;
    std::vector<Block> passing;  // blocks that this rank will send on
    for (const Rank distance : round.distances) {
      const Rank target = mod(r + distance - round.skip, p);
      for (const HeldBlock& held : waiting[static_cast<std::size_t>(distance)]) {
        out.append(Range{held.buffer, held.slot, 1});
        if (distance > round.skip) passing.push_back(mod(r - held.source_distance - round.skip, p) * p + target);
      }
    }
    const std::int32_t scratch = passing.empty() ? -1 : b.scratch(std::move(passing));
    Region in;
    Slot next = 0;
    for (const Rank distance : round.distances) {
      const Rank rest = distance - round.skip;
      for (const HeldBlock& held : waiting[static_cast<std::size_t>(distance)]) {
        const Rank source_distance = held.source_distance + round.skip;
        if (rest == 0) {
          in.append(b.output(mod(r - source_distance, p), 1));
        } else {
          in.append(Range{scratch, next, 1});
          waiting[static_cast<std::size_t>(rest)].push_back({source_distance, scratch, next++});
        }
      }
      waiting[static_cast<std::size_t>(distance)].clear();
    }
    b.sendrecv((r + round.skip) % p, out, mod(r - round.skip, p), in);
    b.next_round();
  }
}

}  // namespace circoll::patterns
