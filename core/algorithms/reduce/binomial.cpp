// reduce/binomial: every rank but the root sends once, along a binomial tree whose groups are runs of ranks.
//
// Idea      In round k groups of 2^k consecutive ranks join in pairs, in the order of ranks. The sum of a
//           group lies at the root if it is a member, else at the first member. So every root gets the sum in
//           rank order, at no extra message. For root 0 it is the textbook's tree.
// Shape     any p, any root; one block.
// Cost      q = ceil(log2 p) rounds; p - 1 messages in all, one per rank but the root. A rank receives and
//           combines q blocks at most.
// Scratch   three blocks.
// Order     rank order: any associative operator.
// Source    folklore; Thakur, Rabenseifner, Gropp 2005, 4.4. Differs: MPICH numbers ranks relative to the
//           root, which loses the order, or reduces to rank 0 and sends the result on.
#include "circoll/algorithm.hpp"
#include "patterns/arrivals.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

/// The place of the sum of the group of 2^k ranks around `rank`.
Rank holder(Rank rank, int k, Rank root) { return rank >> k == root >> k ? root : (rank >> k) << k; }

void build(Builder& b) {
  const Rank r = b.rank();
  const Rank root = b.root();
  const int q = patterns::ceil_log2(b.size());
  if (q == 0) return b.copy(b.output(), b.input());
  patterns::Arrivals arrivals(b, b.input());
  Region sum = b.input();
  for (int k = 0; k < q; ++k) {
    const Rank sibling = ((r >> k) ^ 1) << k;  // its first rank
    if (holder(r, k, root) == r && sibling < b.size()) {
      const Rank other = holder(sibling, k, root);
      if (holder(r, k + 1, root) == r) {
        const Region arrived = arrivals.next();
        const Region next = r == root && k == q - 1 ? b.output() : arrived;
        b.recv(other, arrived);
        sibling > r ? b.reduce(next, sum, arrived) : b.reduce(next, arrived, sum);
        sum = next;
      } else {
        b.send(other, sum);
      }
    }
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const int q = patterns::ceil_log2(shape.size);
  // The root receives once per sibling of its groups. The holder of a full sibling of 2^k ranks has received
  // k times.
  std::int64_t at_root = 0;
  std::int64_t most = 0;
  for (int k = 0; k < q; ++k) {
    const Rank sibling = ((shape.root >> k) ^ 1) << k;
    if (sibling < shape.size) ++at_root;
    if (sibling < shape.root) most = k;
  }
  most = std::max(most, at_root);
  return {
      .rounds = q, .sent = q > 0 ? 1 : 0, .received = most, .reduced = most, .copied = patterns::lonely_copy(shape)};
}

/// In every round some rank combines one block.
CriticalPath path(const Shape& shape) {
  const std::int64_t q = patterns::ceil_log2(shape.size);
  return patterns::one_way_path(1, q, q, q);
}

/// Root 0 has the textbook's tree; in those of others some messages wait for more.
std::int64_t levels(const Shape& shape) { return shape.root == 0 ? patterns::binomial_levels(shape) : 0; }

}  // namespace

CIRCOLL_ALGORITHM(reduce, binomial) {
  return {
      .summary = "binomial tree in rank order, for every root",
      .source = "Thakur, Rabenseifner, Gropp 2005",
      .family = Family::tree,
      .when = "short vectors, operators that do not commute: q rounds at every p and root",
      .peers = {openmpi("binomial"), mpich("binomial")},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = patterns::one_way(
          {.rounds = "ceil(log2 p)", .sent = "1", .reduced = "<= q", .one_way = "q", .combined = "q"}, "q"),
      .cost = cost,
      .path = path,
      .levels = levels,
      .build = build,
  };
}
