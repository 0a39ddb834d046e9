#include "patterns/butterfly.hpp"

namespace circoll::patterns {

Region Butterfly::slice(const Builder& b, const Region& region, std::int64_t region_first, std::int64_t first,
                        std::int64_t count) const {
  const std::int64_t begin = blocks_before(first);
  return b.part(region, begin - blocks_before(region_first), blocks_before(first + count) - begin);
}

Region halve(Builder& b, const Butterfly& f, Region held) {
  for (int k = 0; k < f.levels; ++k) {
    const Rank other = f.place ^ (Rank{1} << k);
    const std::int64_t count = f.segments >> (k + 1);
    const std::int64_t now = halved_first(f.place, k, f.segments);
    const std::int64_t first = halved_first(f.place, k + 1, f.segments);
    const Region kept = f.slice(b, held, now, first, count);
    const Region given = f.slice(b, held, now, halved_first(other, k + 1, f.segments), count);
    const Region arrived = b.region(b.scratch_like(kept));
    b.sendrecv(f.rank_at(other), given, f.rank_at(other), arrived);
    held = f.home(first, count);
    if (held.empty()) held = arrived;
    other > f.place ? b.reduce(held, kept, arrived) : b.reduce(held, arrived, kept);
    b.next_round();
  }
  return held;
}

void spread(Builder& b, const Butterfly& f, Region held) {
  for (int k = f.levels - 1; k >= 0; --k) {
    const Rank other = f.place ^ (Rank{1} << k);
    b.sendrecv(f.rank_at(other), held, f.rank_at(other),
               f.home(halved_first(other, k + 1, f.segments), f.segments >> (k + 1)));
    held = f.home(halved_first(f.place, k, f.segments), f.segments >> k);
    b.next_round();
  }
}

Region collect(Builder& b, const Butterfly& f, Region held, Rank target, int last) {
  for (int k = f.levels - 1; k >= last; --k) {
    const Rank other = f.place ^ (Rank{1} << k);
    if (held.empty()) {
      // Has sent before.
    } else if (((f.place ^ target) >> k & 1) != 0) {
      b.send(f.rank_at(other), held);
      held = {};
    } else {
      b.recv(f.rank_at(other), f.home(halved_first(other, k + 1, f.segments), f.segments >> (k + 1)));
      held = f.home(halved_first(f.place, k, f.segments), f.segments >> k);
    }
    b.next_round();
  }
  return held;
}

}  // namespace circoll::patterns
