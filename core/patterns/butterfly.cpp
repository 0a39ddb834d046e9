#include "patterns/butterfly.hpp"

namespace circoll::patterns {

Region Butterfly::slice(const Builder& b, const Region& region, std::int64_t region_first, std::int64_t first,
                        std::int64_t count) const {
  const std::int64_t begin = blocks_before(first);
  return b.part(region, begin - blocks_before(region_first), blocks_before(first + count) - begin);
}

Region halve(Builder& b, const Butterfly& butterfly, Region held) {
  for (int k = 0; k < butterfly.levels; ++k) {
    const Rank other = butterfly.place ^ (Rank{1} << k);
    const std::int64_t count = butterfly.segments >> (k + 1);
    const std::int64_t now = halved_first(butterfly.place, k, butterfly.segments);
    const std::int64_t first = halved_first(butterfly.place, k + 1, butterfly.segments);
    const Region kept = butterfly.slice(b, held, now, first, count);
    const bool whole = k == 0 && butterfly.whole_first;
    const Region given =
        whole ? held : butterfly.slice(b, held, now, halved_first(other, k + 1, butterfly.segments), count);
    Region arrived = b.region(b.scratch_like(whole ? held : kept));
    b.sendrecv(butterfly.rank_at(other), given, butterfly.rank_at(other), arrived);
    if (whole) arrived = butterfly.slice(b, arrived, now, first, count);
    held = butterfly.home(first, count);
    if (held.empty()) held = arrived;
    other > butterfly.place ? b.reduce(held, kept, arrived) : b.reduce(held, arrived, kept);
    b.next_round();
  }
  return held;
}

void spread(Builder& b, const Butterfly& butterfly, Region held) {
  for (int k = butterfly.levels - 1; k >= 0; --k) {
    const Rank other = butterfly.place ^ (Rank{1} << k);
    b.sendrecv(butterfly.rank_at(other), held, butterfly.rank_at(other),
               butterfly.home(halved_first(other, k + 1, butterfly.segments), butterfly.segments >> (k + 1)));
    held = butterfly.home(halved_first(butterfly.place, k, butterfly.segments), butterfly.segments >> k);
    b.next_round();
  }
}

Region collect(Builder& b, const Butterfly& butterfly, Region held, Rank target, int last) {
  for (int k = butterfly.levels - 1; k >= last; --k) {
    const Rank other = butterfly.place ^ (Rank{1} << k);
    if (held.empty()) {
      // Has sent before.
    } else if (((butterfly.place ^ target) >> k & 1) != 0) {
      b.send(butterfly.rank_at(other), held);
      held = {};
    } else {
      b.recv(butterfly.rank_at(other),
             butterfly.home(halved_first(other, k + 1, butterfly.segments), butterfly.segments >> (k + 1)));
      held = butterfly.home(halved_first(butterfly.place, k, butterfly.segments), butterfly.segments >> k);
    }
    b.next_round();
  }
  return held;
}

}  // namespace circoll::patterns
