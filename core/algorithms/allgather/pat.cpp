// allgather(v)/pat: parallel aggregated trees: a binomial tree for every block, all at once, the longest edges first.
//
// Idea      The block of rank r goes down a binomial tree to the ranks r + j: over the distance 2^(q-1) first, then
//           over 2^(q-2), ..., 1. All trees take the same distance in the same round, so that their blocks share
//           messages. Few blocks go far and many go near, which suits oversubscribed networks. A message has
//           at most `aggregate` blocks; more rounds follow where there are more.
// Shape     any p; p blocks of any sizes.
// Cost      q = ceil(log2 p) rounds, or the sum over k < q of ceil(n_k / aggregate), where n_k =
//           floor((p - 1 + 2^k) / 2^(k+1)) blocks go over the distance 2^k; p - 1 blocks sent and received per rank,
//           which is optimal. One block copied.
// Scratch   none.
// Order     no operator.
// Source    S. Jeaugey: PAT: a new algorithm for all-gather and reduce-scatter operations at scale, arXiv 2506.20252
//           (NCCL 2.23). Differs: levels follow one another also where messages are limited. The source goes down one
//           subtree after the other there, which saves staging memory. Here blocks lie in the receive buffer.
#include "patterns/pat.hpp"
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"

namespace {

using namespace circoll;
using patterns::aggregate;
using patterns::mod;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  const std::int64_t most = b.param(aggregate.name, aggregate.fallback);
  b.copy(b.output(r, 1), b.input());
  for (int k = patterns::ceil_log2(p) - 1; k >= 0; --k) {
    const Rank distance = Rank{1} << k;
    Region out;
    Region in;
    std::int64_t blocks = 0;
    const auto exchange = [&] {
      b.sendrecv((r + distance) % p, out, mod(r - distance, p), in);
      b.next_round();
      out = in = {};
      blocks = 0;
    };
    for (Rank j = 0; j + distance < p; j += 2 * distance) {
      if (blocks == most) exchange();
      ++blocks;
      // The own block does not wait for the local copy.
      out.append(j == 0 ? b.input() : b.output(mod(r - j, p), 1));
      in.append(b.output(mod(r - j - distance, p), 1));
    }
    exchange();
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = patterns::pat_rounds(shape), .sent = p - 1, .received = p - 1, .copied = shape.in_place ? 0 : 1};
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, pat) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "a binomial tree for every block, the longest edges first; few blocks go far",
      .source = "Jeaugey, arXiv 2506.20252",
      .family = Family::dissemination,
      .when = "never by cost: not measured yet; oversubscribed networks, by the simulator: few blocks go far",
      .automatic = false,
      .rotation = Rotation::ranks,
      .formula = {.rounds = patterns::pat_rounds_formula, .sent = "p-1", .reduced = "0"},
      .params = {aggregate},
      .cost = cost,
      .build = build,
  };
}
