// Segments that go through all ranks, one after the other.
#pragma once

#include "circoll/builder.hpp"

namespace circoll::patterns {

/// Writes the n + p - 2 rounds of n segments through p > 1 ranks, seen from the v-th of them. Segment s leaves it in
/// round v + s, while s + 1 arrives. Callbacks send(s) and recv(s) write the two; the first rank gets nothing, the
/// last sends nothing.
template <class Send, class Recv>
void through_chain(Builder& builder, Rank v, std::int64_t n, Send send, Recv recv) {
  const Rank p = builder.size();
  for (std::int64_t round = 0; round < n + p - 2; ++round) {
    const std::int64_t out = round - v;
    const std::int64_t in = out + 1;
    if (v < p - 1 && out >= 0 && out < n) send(out);
    if (v > 0 && in >= 0 && in < n) recv(in);
    builder.next_round();
  }
}

}  // namespace circoll::patterns
