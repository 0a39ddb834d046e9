#include "patterns/binomial.hpp"

#include <algorithm>

#include "patterns/circulant.hpp"

namespace circoll::patterns {
namespace {

/// Calls f(from, to, mask) of each round for the edges at this rank, and ends the round. Ranks are relative to
/// the root.
template <typename F>
void each_edge(Builder& b, Rank root, F&& f) {
  const Rank v = mod(b.rank() - root, b.size());
  for (int k = ceil_log2(b.size()) - 1; k >= 0; --k) {
    const Rank mask = Rank{1} << k;
    if (v % (2 * mask) == 0 && v + mask < b.size()) f(v, v + mask, mask);
    if (v % (2 * mask) == mask) f(v - mask, v, mask);
    b.next_round();
  }
}

}  // namespace

void binomial_bcast(Builder& b, const Region& data, Rank root) {
  const Rank p = b.size();
  each_edge(b, root, [&](Rank from, Rank to, Rank) {
    const Rank target = (to + root) % p;
    target == b.rank() ? b.recv((from + root) % p, data) : b.send(target, data);
  });
}

void binomial_scatter(Builder& b, const Region& all, Rank root) {
  const Rank p = b.size();
  each_edge(b, root, [&](Rank from, Rank to, Rank mask) {
    const Rank target = (to + root) % p;
    const Rank blocks = std::min(mask, p - to);
    const Rank before_end = std::min(blocks, p - target);
    const Region data = b.part(all, target, before_end) + b.part(all, 0, blocks - before_end);
    target == b.rank() ? b.recv((from + root) % p, data) : b.send(target, data);
  });
}

std::int64_t binomial_most(Rank p) {
  if (p < 2) return 0;
  const Rank top = Rank{1} << std::max(ceil_log2(p) - 1, 0);
  return std::max(p - top, top / 2);
}

}  // namespace circoll::patterns
