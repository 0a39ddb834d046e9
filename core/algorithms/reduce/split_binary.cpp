// reduce/split_binary: segments come up a binary tree in rank order.
//
// Idea      The root divides the other ranks into those before and those after it. Each run has a child of the root in
//           its middle, which divides the rest of its run, and so on. A rank combines the sum from the left, its own
//           contribution and the sum from the right, in this order. So every root gets the sum in rank order.
// Shape     any p, any root; the vector cut into n = segments blocks.
// Cost      2(n - 1) + h rounds, where h < 2 log2 (p + 1) is the most rounds from a rank to the root. A rank sends n
//           blocks, and receives and combines 2n at most. Where no rank has two children: n - 1 + h.
// Scratch   the messages of three segments on each side.
// Order     rank order: any associative operator.
// Source    Open MPI, coll/base, reduce_intra_in_order_binary. Differs: there the tree ends at the last rank,
//           which sends the result to the root.
#include <algorithm>
#include <bitset>
#include <vector>

#include "circoll/algorithm.hpp"
#include "patterns/arrivals.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

using patterns::segments;

/// A run of ranks and the one that collects its sum. `delay` is the number of rounds from there to the root.
struct Node {
  Rank first;
  Rank end;
  Rank rank;
  std::int64_t delay;
};

/// The run of a child. The child nearer to the root has the longer run, the left one if both are as long.
Node child(const Node& node, bool left) {
  const Rank before = node.rank - node.first;
  const Rank after = node.end - node.rank - 1;
  const Rank first = left ? node.first : node.rank + 1;
  const Rank end = left ? node.rank : node.end;
  const bool alone = (left ? after : before) == 0;
  const bool nearer = alone || (left ? before >= after : after > before);
  return {first, end, first + (end - first - 1) / 2, node.delay + (nearer ? 1 : 2)};
}

struct Heights {
  std::int64_t at;    // of a run of m ranks
  std::int64_t next;  // of a run of m + 1
};
/// The most rounds from a rank of a run to its middle: -1 for an empty run. O(log m).
Heights heights(Rank m) {
  if (m == 0) return {-1, 0};
  if (m == 1) return {0, 1};
  const Rank half = (m - 1) / 2;
  const Heights below = heights(half);
  const auto join = [](std::int64_t larger, std::int64_t smaller) {
    return std::max(larger + 1, smaller < 0 ? 0 : smaller + 2);
  };
  if (m % 2 == 1) return {join(below.at, below.at), join(below.next, below.at)};  // m - 1 = 2 half
  return {join(below.next, below.at), join(below.next, below.next)};              // m - 1 = 2 half + 1
}

/// The most rounds from a rank to the root.
std::int64_t height(Rank p, Rank root) {
  const Rank larger = std::max(root, p - 1 - root);
  const Rank smaller = p - 1 - larger;
  return std::max(heights(larger).at + 1, smaller > 0 ? heights(smaller).at + 2 : 0);
}

/// Rounds between two segments of a rank: 1 if no rank has two children.
std::int64_t period_of(Rank p, Rank root) {
  const bool single = root == 0 || root == p - 1;
  return single && p - 1 <= 2 ? 1 : 2;
}

void build(Builder& b) {
  const std::int64_t n = patterns::cut(b, segments);
  const Rank p = b.size();
  const Rank r = b.rank();
  if (p == 1) return b.copy(b.output(), b.input());
  Node node{0, p, b.root(), 0};
  Rank parent = -1;
  while (node.rank != r) {
    parent = node.rank;
    node = child(node, r < node.rank);
  }
  const Node left = child(node, true);
  const Node right = child(node, false);
  const std::int64_t most = height(p, b.root());
  const std::int64_t period = period_of(p, b.root());

  patterns::Arrivals from_left(b);
  patterns::Arrivals from_right(b);
  std::vector<Region> sums(static_cast<std::size_t>(n));
  for (std::int64_t s = 0; s < n; ++s) sums[static_cast<std::size_t>(s)] = b.input(s, 1);
  const std::int64_t rounds = period * (n - 1) + most;
  for (std::int64_t round = 0; round < rounds; ++round) {
    const auto segment = [&](const Node& sender) {
      return patterns::segment_in(round, most - sender.delay, period, n);
    };
    if (r != b.root() && segment(node) >= 0) b.send(parent, sums[static_cast<std::size_t>(segment(node))]);
    for (const bool is_left : {true, false}) {
      const Node& from = is_left ? left : right;
      if (from.first == from.end || segment(from) < 0) continue;
      const std::int64_t s = segment(from);
      Region& sum = sums[static_cast<std::size_t>(s)];
      const Region arrived = (is_left ? from_left : from_right).next(b.input(s, 1));
      b.recv(from.rank, arrived);
      const Node& other = is_left ? right : left;
      const bool last = other.first == other.end || other.delay > from.delay;
      const Region next = r == b.root() && last ? b.output(s, 1) : arrived;
      is_left ? b.reduce(next, arrived, sum) : b.reduce(next, sum, arrived);
      sum = next;
    }
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  const Rank p = shape.size;
  if (p == 1) return {.copied = n * patterns::lonely_copy(shape)};
  const std::int64_t period = period_of(p, shape.root);
  return {.rounds = period * (n - 1) + height(p, shape.root), .sent = n, .received = period * n, .reduced = period * n};
}

/// Distances in rounds, as a set.
using Delays = std::bitset<256>;
struct DelaySets {
  Delays at;    // of a run of m ranks
  Delays next;  // of a run of m + 1
};
/// Distances of the ranks with two children from the middle of a run. O(log m).
DelaySets branchings(Rank m) {
  if (m == 0) return {};
  const DelaySets below = branchings((m - 1) / 2);
  const auto join = [](const Delays& larger, const Delays& smaller, Rank ranks) {
    Delays sum = larger << 1 | smaller << 2;
    if (ranks >= 3) sum.set(0);
    return sum;
  };
  if (m % 2 == 1) return {join(below.at, below.at, m), join(below.next, below.at, m + 1)};
  return {join(below.next, below.at, m), join(below.next, below.next, m + 1)};
}

/// Rounds in which some rank sends and receives. In these a rank at distance d sends segment s, and its farther child
/// segment s + 1.
std::int64_t two_way_rounds(Rank p, Rank root, std::int64_t n) {
  if (period_of(p, root) == 1) return p > 2 ? n - 1 : 0;
  const Rank larger = std::max(root, p - 1 - root);
  const Delays delays = branchings(larger).at << 1 | branchings(p - 1 - larger).at << 2;
  std::int64_t rounds = 0;
  for (std::size_t parity = 0; parity < 2; ++parity) {
    std::int64_t before = -1;
    for (std::size_t d = parity; d < delays.size(); d += 2) {
      if (!delays.test(d)) continue;
      const auto now = static_cast<std::int64_t>(d);
      rounds += before < 0 ? n - 1 : std::min((now - before) / 2, n - 1);
      before = now;
    }
  }
  return rounds;
}

CriticalPath path(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  if (shape.size == 1) return {.blocks = n};
  const std::int64_t rounds = cost(shape).rounds;
  CriticalPath path = patterns::pipelined_path(n, rounds, rounds - two_way_rounds(shape.size, shape.root, n));
  path.combined = rounds;
  return path;
}

}  // namespace

CIRCOLL_ALGORITHM(reduce, split_binary) {
  return {
      .summary = "segments up a binary tree in rank order; any operator, any root, long vectors",
      .source = "Open MPI, coll/base",
      .family = Family::tree,
      .when = "operators that do not commute: hundreds of KiB and more, p = 3",
      .peers = {openmpi("in-order_binary")},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "<= 2(n-1) + 2 log2(p+1)",
                  .sent = "n",
                  .reduced = "<= 2n",
                  .two_way = "rounds - one_way",
                  .one_way = "counted; rounds for n = 1",
                  .volume = "rounds - one_way",
                  .one_way_volume = "one_way",
                  .combined = "rounds"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
