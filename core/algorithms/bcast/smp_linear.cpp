// bcast/smp_linear: from node to node in a line, and in a line within every node.
//
// Idea      Ranks are placed on nodes in order, `cores` on each. Every node has a leader: its first rank, or
//           the root. The leaders, beginning with the root's, pass the vector on in a line; each then passes
//           it to the first other rank of its node, and that one on. Nodes are served while the line of
//           leaders goes on.
// Shape     any p, any root; one block.
// Cost      with S = ceil(p / cores) nodes: S - 1 rounds to the last leader, and up to `cores` - 1 more; two
//           blocks sent at most, one received.
// Scratch   none.
// Order     no operator.
// Source    Open MPI's collective patterns, SMP linear. Differs: there the root sends to rank 0 first and
//           gets its own data back later; here its node comes first and it leads it.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"
#include "patterns/nodes.hpp"

namespace {

using namespace circoll;

using patterns::cores;

/// Nodes, in the order in which the line of leaders visits them.
class Nodes {
 public:
  Nodes(Rank p, Rank root, Rank cores)
      : p_(p), root_(root), cores_(cores), count_((p + cores - 1) / cores), first_(root / cores) {}

  [[nodiscard]] Rank count() const { return count_; }
  [[nodiscard]] Rank position_of(Rank rank) const { return patterns::mod(rank / cores_ - first_, count_); }
  [[nodiscard]] Rank size(Rank position) const { return std::min(cores_, p_ - begin(position)); }
  /// The leader has number 0; the others follow in the order of ranks.
  [[nodiscard]] Rank number_of(Rank rank) const {
    if (rank == leader(position_of(rank))) return 0;
    return rank - begin(position_of(rank)) + (rank < leader(position_of(rank)) ? 1 : 0);
  }
  [[nodiscard]] Rank rank_at(Rank position, Rank number) const {
    const Rank lead = leader(position) - begin(position);
    if (number == 0) return begin(position) + lead;
    return begin(position) + (number <= lead ? number - 1 : number);
  }
  /// The round in which a rank receives; -1 for the root. The last leader has no other one to serve first.
  [[nodiscard]] Rank round(Rank position, Rank number) const {
    if (number == 0) return position - 1;
    return position + number - (position == count_ - 1 ? 1 : 0);
  }
  [[nodiscard]] Rank rounds() const {
    Rank last = -1;  // only one node is smaller than the others, so one of the last three is the latest
    for (Rank i = std::max<Rank>(count_ - 3, 0); i < count_; ++i) last = std::max(last, round(i, size(i) - 1));
    return last + 1;
  }

 private:
  [[nodiscard]] Rank begin(Rank position) const { return (first_ + position) % count_ * cores_; }
  [[nodiscard]] Rank leader(Rank position) const { return position == 0 ? root_ : begin(position); }

  Rank p_;
  Rank root_;
  Rank cores_;
  Rank count_;
  Rank first_;
};

void build(Builder& b) {
  const Nodes nodes(b.size(), b.root(), b.param(cores.name, cores.fallback));
  const Rank node = nodes.position_of(b.rank());
  const Rank number = nodes.number_of(b.rank());
  const Rank before = number > 0 ? nodes.rank_at(node, number - 1) : node > 0 ? nodes.rank_at(node - 1, 0) : -1;
  for (Rank round = 0; round < nodes.rounds(); ++round) {
    if (round == nodes.round(node, number)) b.recv(before, b.output());
    if (number == 0 && node + 1 < nodes.count() && round == nodes.round(node + 1, 0)) {
      b.send(nodes.rank_at(node + 1, 0), b.output());
    }
    if (number + 1 < nodes.size(node) && round == nodes.round(node, number + 1)) {
      b.send(nodes.rank_at(node, number + 1), b.output());
    }
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  if (shape.size == 1) return {};
  const Nodes nodes(shape.size, shape.root, patterns::value_of(shape, cores));
  std::int64_t sent = 1;
  for (Rank i = 0; i < std::min<Rank>(nodes.count() - 1, 2); ++i) {
    if (nodes.size(i) > 1) sent = 2;
  }
  return {.rounds = nodes.rounds(), .sent = sent, .received = 1};
}

/// A rank sends in the rounds after the one in which it receives.
CriticalPath path(const Shape& shape) {
  const std::int64_t rounds = cost(shape).rounds;
  return patterns::one_way_path(1, rounds, rounds);
}

}  // namespace

CIRCOLL_ALGORITHM(bcast, smp_linear) {
  return {
      .summary = "a line of node leaders, then a line within every node",
      .source = "Open MPI",
      .family = Family::hierarchical,
      .when = "never by cost: leaders has fewer rounds; a line of leaders, for few nodes of few ranks",
      .formula =
          patterns::one_way({.rounds = "ceil(p/cores) + min(cores, p) - 2", .sent = "<= 2", .reduced = "0"}, "rounds"),
      .params = {cores},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
