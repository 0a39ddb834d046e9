// bcast/leaders: among the leaders of the nodes, then inside every node, n blocks, each phase round-optimal.
//
// Idea      Every node has a leader: its first rank, or the root. The leaders get the vector by circulant_pipelined,
//           and each spreads it on its node by the same algorithm. The vector enters every node once, however many
//           ranks share its port. No phase waits for the other: a leader passes a block on to its node when it has
//           come.
// Shape     any p, any root; the vector cut into n = segments blocks; `cores` consecutive ranks on a node, the last
//           node may have fewer.
// Cost      with S = ceil(p / cores) nodes, c = min(cores, p): n - 1 + ceil(log2 S) rounds between nodes (if S > 1) and
//           n - 1 + ceil(log2 c) inside them (if c > 1). Every rank but the root receives each block once.
// Scratch   none.
// Order     no operator.
// Source    the hierarchical collectives of MPI libraries (Karonis et al., IPDPS 2000), with J. L. Traff's broadcast,
//           arXiv 2407.18004, in both phases.
#include "circoll/algorithm.hpp"
#include "patterns/broadcast_rounds.hpp"
#include "patterns/costs.hpp"
#include "patterns/nodes.hpp"

namespace {

using namespace circoll;

using patterns::segments;
constexpr const char* phase = "bcast/circulant_pipelined";

std::int64_t rounds_of(Rank p, std::int64_t n) { return p == 1 ? 0 : n - 1 + patterns::ceil_log2(p); }

void build(Builder& b) {
  const std::int64_t n = patterns::cut(b, segments);
  const patterns::Nodes nodes(b);
  const Rank node = nodes.node_of(b.rank());
  if (nodes.leader(node) == b.rank()) {
    b.embed(build_part(b, phase, patterns::among_leaders(b, nodes)), {.ranks = nodes.leaders(), .recv = b.output()});
  } else {
    b.next_round(static_cast<std::uint32_t>(rounds_of(nodes.count(), n)));
  }
  b.embed(build_part(b, phase, patterns::inside_node(b, nodes)), {.ranks = nodes.members(node), .recv = b.output()});
  // A smaller node waits until the others are through.
  b.next_round(static_cast<std::uint32_t>(rounds_of(nodes.full_size(), n) - rounds_of(nodes.size(node), n)));
}

/// Blocks that a rank other than the root sends in a broadcast; the most of any.
std::int64_t most_sent_by_others(Rank p, std::int64_t n) {
  const patterns::Skips skips(p);
  std::int64_t most = 0;
  for (Rank v = 1; v < p; ++v) {
    const patterns::RoundBlocks sent = patterns::blocks_sent(v, skips);
    std::int64_t blocks = 0;
    patterns::each_broadcast_round(n, skips.q(), [&](int k, std::int64_t shift) {
      if (sent[static_cast<std::size_t>(k)] + shift >= 0 && v + skips[k] != p) ++blocks;
    });
    most = std::max(most, blocks);
  }
  return most;
}

/// The root sends in every round of both phases. Only if it is on a smaller node another leader may send more.
Cost cost(const Shape& shape) {
  const patterns::Nodes nodes(shape);
  const std::int64_t n = patterns::value_of(shape, segments);
  const Rank home = nodes.size(nodes.node_of(shape.root));
  const std::int64_t between = rounds_of(nodes.count(), n);
  const std::int64_t inside = rounds_of(nodes.full_size(), n);
  std::int64_t sent = between + rounds_of(home, n);
  if (home < nodes.full_size()) sent = std::max(sent, most_sent_by_others(nodes.count(), n) + inside);
  return {.rounds = between + inside, .sent = sent, .received = shape.size > 1 ? n : 0};
}

/// A round inside nodes goes one way if it does in the full nodes and in the smaller one.
std::int64_t one_way_inside(const patterns::Nodes& nodes, std::int64_t n) {
  const Rank c = nodes.full_size();
  const Rank last = nodes.size(nodes.count() - 1);
  const patterns::OneWayRounds full(n, patterns::Skips(c));
  if (last == c || last <= 2 || c <= 2) return full.count();
  const patterns::OneWayRounds smaller(n, patterns::Skips(last));
  const std::int64_t first_phases = std::min<std::int64_t>(rounds_of(c, n), 2 * patterns::ceil_log2(c));
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < first_phases; ++i) {
    if (full[i] && (i >= rounds_of(last, n) || smaller[i])) ++count;
  }
  return count;
}

CriticalPath path(const Shape& shape) {
  const patterns::Nodes nodes(shape);
  const std::int64_t n = patterns::value_of(shape, segments);
  return patterns::then(patterns::pipelined_path(n, rounds_of(nodes.count(), n),
                                                 patterns::OneWayRounds(n, patterns::Skips(nodes.count())).count()),
                        patterns::pipelined_path(n, rounds_of(nodes.full_size(), n), one_way_inside(nodes, n)));
}

}  // namespace

CIRCOLL_ALGORITHM(bcast, leaders) {
  return {
      .summary = "n blocks among the leaders of the nodes, and on every node; the vector enters a node once",
      .source = "Karonis et al. 2000; Traff, arXiv 2407.18004",
      .family = Family::circulant,
      .when = "from some KiB on, nodes of many ranks: the vector enters a node once",
      .formula = {.rounds = "[S>1](n-1+ceil(log2 S)) + [c>1](n-1+ceil(log2 c)), S = ceil(p/cores), c = min(cores, p)",
                  .sent = "<= [S>1](n-1+ceil(log2 S)) + [c>1](n-1+ceil(log2 c)), S = ceil(p/cores), c = min(cores, p)",
                  .reduced = "0",
                  .two_way = "rounds - one_way",
                  .one_way = "counted",
                  .volume = "rounds - one_way",
                  .one_way_volume = "one_way"},
      .params = {segments, patterns::cores},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
