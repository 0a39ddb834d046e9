// gather(v)/leaders: inside every node to its leader, then among the leaders.
//
// Idea      Every node has a leader: its first rank, or the root. The leader collects the blocks of its node by a
//           binomial tree. The leaders send them on, a node's blocks in one message, by a tree in which a leader has
//           radix - 1 children per level. From radix >= the number of nodes on, all leaders send straight to the root.
//           The blocks of a node leave it once, in one message or a few, however many ranks share its port.
// Shape     any p, any root; p blocks of any sizes. `cores` consecutive ranks are on a node, and the last node may have
//           fewer. In gatherv only the root knows the sizes. So the executor first runs the same schedule on the
//           counts.
// Cost      with S = ceil(p / cores) nodes, c = min(cores, p): ceil(log2 c) rounds inside nodes, and those of
//           bcast/knomial on S ranks between them. The root receives p - 1 blocks. There are p - 1 messages in all, S -
//           1 of them between nodes. A rank that passes blocks on copies its own block next to them.
// Scratch   the blocks that pass through a rank: at a leader those of its nodes.
// Order     no operator.
// Source    the hierarchical collectives of MPI libraries (Karonis et al., IPDPS 2000); MVAPICH2's two-level gather.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"
#include "patterns/nodes.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

using patterns::radix;
constexpr const char* to_leader = "gather/binomial";

/// The tree among the leaders: v is a node relative to the root's.
class LeaderTree : public patterns::KnomialTree {
 public:
  LeaderTree(const patterns::Nodes& nodes, Rank root, std::int64_t base)
      : KnomialTree(nodes.count(), base), nodes_(nodes), home_(nodes.node_of(root)) {}

  [[nodiscard]] Rank relative(Rank node) const { return patterns::mod(node - home_, nodes_.count()); }
  [[nodiscard]] Rank leader(Rank v) const { return nodes_.leader(node(v)); }
  /// Blocks of `count` nodes from v on, or of those that there are.
  [[nodiscard]] std::int64_t blocks(Rank v, Rank count) const {
    return nodes_.ranks_on(node(v), std::min(count, nodes_.count() - v));
  }
  /// Blocks that the leader of node v > 0 collects and sends.
  [[nodiscard]] std::int64_t collected(Rank v) const { return blocks(v, weight_of(v)); }

 private:
  [[nodiscard]] Rank node(Rank v) const { return (v + home_) % nodes_.count(); }

  const patterns::Nodes& nodes_;
  Rank home_;
};

void build(Builder& b) {
  const patterns::Nodes nodes(b);
  const LeaderTree tree(nodes, b.root(), b.param(radix.name, radix.fallback));
  const Rank node = nodes.node_of(b.rank());
  const Rank v = tree.relative(node);
  const bool is_root = b.rank() == b.root();
  const bool leads = nodes.leader(node) == b.rank();

  const bool alone = !is_root && leads && tree.collected(v) == 1;
  Region all;  // what a leader collects, of its own node first
  if (is_root) {
    all = b.output(nodes.begin(node), b.size());
  } else if (alone) {
    all = b.input();  // straight from the send buffer
  } else if (leads) {
    all = b.region(b.scratch(tree.collected(v), nodes.begin(node)));
  }
  Shape inside = patterns::inside_node(b, nodes);
  inside.in_place = b.shape().in_place && is_root;
  const std::uint32_t end = b.round() + static_cast<std::uint32_t>(patterns::ceil_log2(nodes.full_size()));
  if (!alone) {
    b.embed(build_part(b, to_leader, inside), {.ranks = nodes.members(node),
                                               .first_block = nodes.begin(node),
                                               .send = inside.in_place ? Region{} : b.input(),
                                               .recv = leads ? b.part(all, 0, nodes.size(node)) : Region{}});
  }
  b.next_round(end - b.round());  // a smaller node waits until the others are through

  tree.each_round_up([&](Rank weight, Rank step) {
    if (leads && tree.is_parent(v, weight, step)) {
      b.recv(tree.leader(v + step), b.part(all, tree.blocks(v, step), tree.blocks(v + step, weight)));
    }
    if (leads && tree.is_child(v, weight, step)) b.send(tree.leader(v - step), all);
    b.next_round();
  });
}

Cost cost(const Shape& shape) {
  const patterns::Nodes nodes(shape);
  const LeaderTree tree(nodes, shape.root, patterns::value_of(shape, radix));
  std::int64_t by_leaders = 0;
  for (Rank v = 1; v < nodes.count(); ++v) by_leaders = std::max(by_leaders, tree.collected(v));
  const bool others_copy = by_leaders > 1 || nodes.full_size() >= 4;  // their own block next to those they pass on
  return {.rounds = patterns::ceil_log2(nodes.full_size()) + tree.rounds(),
          .sent = std::max(patterns::binomial_most(nodes.full_size()), by_leaders),
          .received = shape.size - 1,
          .copied = shape.in_place && !others_copy ? 0 : 1};
}

/// In every round the root receives one of the longest messages, unless the node with fewer ranks is in it.
CriticalPath path(const Shape& shape) {
  const patterns::Nodes nodes(shape);
  const LeaderTree tree(nodes, shape.root, patterns::value_of(shape, radix));
  std::int64_t volume = nodes.full_size() - 1;
  tree.each_round_up([&](Rank weight, Rank step) {
    std::int64_t longest = 0;
    for (Rank v = 0; v + step < nodes.count(); v += tree.next_weight(weight)) {
      longest = std::max(longest, tree.blocks(v + step, weight));
    }
    volume += longest;
  });
  return patterns::one_way_path(shape.size, patterns::ceil_log2(nodes.full_size()) + tree.rounds(), volume);
}

}  // namespace

CIRCOLL_ALGORITHM(gather, leaders) {
  return {
      .collectives = {Collective::gather, Collective::gatherv},
      .summary = "to the leader of every node, and from there in one message for all blocks of a node",
      .source = "Karonis et al. 2000",
      .family = Family::hierarchical,
      .when = "never by cost: circulant has no more rounds; for nodes whose ranks share a port",
      .formula = patterns::one_way(
          {.rounds = "ceil(log2 c) + sum(i, 0, q-1, min(radix, ceil(S/radix^i)) - 1), S = ceil(p/cores), "
                     "c = min(cores, p)",
           .sent = "counted",
           .reduced = "0"},
          "<= c-1 + (S-1) c, S = ceil(p/cores), c = min(cores, p)"),
      .params = {patterns::cores, radix},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
