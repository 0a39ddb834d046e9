// allreduce/leaders: inside every node to its leader, among the leaders, and back.
//
// Idea      One rank of every node (the leader) combines the contributions of its node, the leaders combine theirs by recursive
//           doubling, and each spreads the result on its node. Between nodes travel as many vectors as there are
//           nodes, not ranks: for short vectors on nodes of many ranks.
// Shape     any p; one block; `cores` consecutive ranks on a node, the last node may have fewer.
// Cost      with S = ceil(p / cores) nodes, c = min(cores, p): 2 ceil(log2 c) rounds inside nodes, and between them those of
//           recursive_doubling on S ranks: floor(log2 S), and 2 more unless S is a power of two.
// Scratch   six blocks.
// Order     rank order: any associative operator; same bits on all ranks.
// Source    the hierarchical collectives of MPI libraries; Karonis et al., Exploiting hierarchy in parallel
//           computer networks to optimize collective operation performance, IPDPS 2000.
#include "circoll/algorithm.hpp"
#include "patterns/nodes.hpp"

namespace {

using namespace circoll;

constexpr const char* to_leader = "reduce/binomial";
constexpr const char* between_leaders = "allreduce/recursive_doubling";
constexpr const char* from_leader = "bcast/binomial";

Shape full_node(const Shape& shape) { return {.size = patterns::Nodes(shape).full_size()}; }
Shape all_leaders(const Shape& shape) { return {.size = patterns::Nodes(shape).count()}; }

std::uint32_t rounds_of(const char* id, const Shape& shape) {
  return static_cast<std::uint32_t>(parse_selection(id).algorithm->cost(shape).rounds);
}

/// A part inside the node; smaller nodes wait until the others are through.
void inside(Builder& b, const patterns::Nodes& nodes, const char* id, const Shape& shape, const Region& send,
            const Region& recv) {
  const std::uint32_t end = b.round() + rounds_of(id, full_node(b.shape()));
  b.embed(build_part(b, id, shape), {.ranks = nodes.members(nodes.node_of(b.rank())), .send = send, .recv = recv});
  b.next_round(end - b.round());
}

void build(Builder& b) {
  const patterns::Nodes nodes(b);
  const bool leads = nodes.leader(nodes.node_of(b.rank())) == b.rank();
  Shape shape = patterns::inside_node(b, nodes);
  shape.in_place = b.shape().in_place;
  const Region contribution = shape.in_place && leads ? Region{} : b.input();
  inside(b, nodes, to_leader, shape, contribution, leads ? b.output() : Region{});
  if (leads) {
    shape = patterns::among_leaders(b, nodes);
    shape.in_place = true;
    b.embed(build_part(b, between_leaders, shape), {.ranks = nodes.leaders(), .recv = b.output()});
  } else {
    b.next_round(rounds_of(between_leaders, all_leaders(b.shape())));
  }
  inside(b, nodes, from_leader, patterns::inside_node(b, nodes), {}, b.output());
}

/// The leader of a full node does the most. (That of the last node does as much among the leaders as any other, or less.) A rank
/// that is alone on its node copies its contribution.
Cost cost(const Shape& shape) {
  const patterns::Nodes nodes(shape);
  Shape leaders = all_leaders(shape);
  leaders.in_place = true;
  const Cost in = parse_selection(to_leader).algorithm->cost(full_node(shape));
  const Cost between = parse_selection(between_leaders).algorithm->cost(leaders);
  const Cost out = parse_selection(from_leader).algorithm->cost(full_node(shape));
  return {.rounds = in.rounds + between.rounds + out.rounds,
          .sent = between.sent + out.sent,
          .received = in.received + between.received,
          .reduced = in.reduced + between.reduced,
          .copied = shape.in_place || nodes.size(nodes.count() - 1) > 1 ? 0 : 1};
}

CriticalPath path(const Shape& shape) {
  const auto part = [](const char* id, const Shape& of) {
    const Selection selection = parse_selection(id);
    return critical_path(*selection.algorithm, selection.collective, of);
  };
  const CriticalPath up = patterns::then(part(to_leader, full_node(shape)), part(between_leaders, all_leaders(shape)));
  return patterns::then(up, part(from_leader, full_node(shape)));
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, leaders) {
  static const Algorithm algorithm{
      .collectives = {Collective::allreduce},
      .name = "leaders",
      .summary = "to the leader of every node, recursive doubling among leaders, and back; short vectors",
      .source = "Karonis et al. 2000",
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "2 ceil(log2 c) + F + 2[S>2^F], F = floor(log2 S), S = ceil(p/cores), c = min(cores, p)",
                  .sent = "ceil(log2 c) + F + [S>2^F], F = floor(log2 S), S = ceil(p/cores), c = min(cores, p)",
                  .reduced = "ceil(log2 c) + F + [S>2^F], F = floor(log2 S), S = ceil(p/cores), c = min(cores, p)",
                  .two_way = "floor(log2 S), S = ceil(p/cores)",
                  .one_way = "rounds - floor(log2 S), S = ceil(p/cores)",
                  .volume = "floor(log2 S), S = ceil(p/cores)",
                  .one_way_volume = "one_way",
                  .combined = "ceil(log2 c) + F + [S>2^F], F = floor(log2 S), S = ceil(p/cores), c = min(cores, p)"},
      .params = {patterns::cores},
      .cost = cost,
      .path = path,
      .build = build,
  };
  return algorithm;
}
