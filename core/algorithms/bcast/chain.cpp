// bcast/chain: segments go down several chains of ranks at once.
//
// Idea      The p - 1 others (in the order of ranks after the root) form f = fanout chains, the first ones longer by
//           one where p - 1 is not a multiple of f. The root sends every segment to the head of each chain in turn; a
//           rank of a chain passes it on. One chain is bcast/pipeline.
// Shape     any p, any root; the vector cut into n = segments blocks.
// Cost      f n + floor((p - 1) / f) - 1 rounds, f = min(fanout, p - 1); the root sends f n blocks.
// Scratch   none.
// Order     no operator.
// Source    Open MPI, coll/base, bcast_intra_chain.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

using patterns::segments;
constexpr ParamDeclaration fanout{
    .name = "fanout", .minimum = 1, .maximum = 1 << 20, .fallback = 4, .summary = "number of chains"};

/// The chains that p - 1 ranks form.
struct Chains {
  Rank number;
  Rank length;  // of the shorter ones
  Rank longer;  // so many of them have one rank more

  Chains(Rank p, std::int64_t fanout_wanted)
      : number(std::min(fanout_wanted, p - 1)), length((p - 1) / number), longer((p - 1) % number) {}

  /// The first rank of chain c, relative to the root.
  [[nodiscard]] Rank head(Rank c) const { return 1 + c * length + std::min(c, longer); }
};

std::int64_t rounds_of(const Chains& chains, std::int64_t n) { return chains.number * n + chains.length - 1; }

void build(Builder& b) {
  const std::int64_t n = patterns::cut(b, segments);
  const Rank p = b.size();
  if (p == 1) return;
  const Chains chains(p, b.param(fanout.name, fanout.fallback));
  const Rank v = patterns::mod(b.rank() - b.root(), p);
  Rank chain = chains.number;
  while (v > 0 && chains.head(chain - 1) > v) --chain;
  --chain;  // of this rank
  const Rank place = v - chains.head(chain);
  const bool passes_on = v > 0 && v + 1 < (chain + 1 < chains.number ? chains.head(chain + 1) : p);
  const auto segment = [&](std::int64_t round, std::int64_t start) {
    return patterns::segment_in(round, start, chains.number, n);
  };
  for (std::int64_t round = 0; round < rounds_of(chains, n); ++round) {
    if (v == 0) {
      const std::int64_t s = segment(round, round % chains.number);
      if (s >= 0) b.send((b.root() + chains.head(round % chains.number)) % p, b.output(s, 1));
    } else {
      if (const std::int64_t s = segment(round, chain + place + 1); passes_on && s >= 0) {
        b.send((b.rank() + 1) % p, b.output(s, 1));
      }
      if (const std::int64_t s = segment(round, chain + place); s >= 0) {
        b.recv(place == 0 ? b.root() : patterns::mod(b.rank() - 1, p), b.output(s, 1));
      }
    }
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  if (shape.size == 1) return {};
  const Chains chains(shape.size, patterns::value_of(shape, fanout));
  return {.rounds = rounds_of(chains, n), .sent = chains.number * n, .received = n};
}

/// Of several chains, a rank sends a segment on before it gets its next one; one chain is a pipeline.
CriticalPath path(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  const Rank p = shape.size;
  if (p == 1) return {.blocks = n};
  const std::int64_t rounds = cost(shape).rounds;
  const bool pipeline = patterns::value_of(shape, fanout) == 1 && n > 1 && p > 2;
  return patterns::pipelined_path(n, rounds, pipeline ? 2 : rounds);
}

}  // namespace

CIRCOLL_ALGORITHM(bcast, chain) {
  return {
      .summary = "segments down several chains",
      .source = "Open MPI, coll/base",
      .family = Family::chain,
      .when = "never by cost: several pipelines are slower than circulant_pipelined, and than one for long vectors",
      .peers = {openmpi("chain")},
      .formula = {.rounds = "f n + floor((p-1)/f) - 1, f = min(fanout, p-1)",
                  .sent = "n min(fanout, p-1)",
                  .reduced = "0",
                  .two_way = "rounds - one_way",
                  .one_way = "rounds - [fanout=1][n>1][p>2](rounds-2)",
                  .volume = "rounds - one_way",
                  .one_way_volume = "one_way"},
      .params = {segments, fanout},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
