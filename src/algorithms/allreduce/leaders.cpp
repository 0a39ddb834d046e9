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
#include "patterns/leaders.hpp"
#include "circoll/algorithm.hpp"
#include "patterns/nodes.hpp"

namespace {

using namespace circoll;

constexpr patterns::LeaderParts parts{
    .to_leader = "reduce/binomial", .between = "allreduce/recursive_doubling", .from_leader = "bcast/binomial"};

void build(Builder& b) { patterns::allreduce_by_leaders(b, parts); }
Cost cost(const Shape& shape) { return patterns::cost_by_leaders(parts, shape); }
CriticalPath path(const Shape& shape) { return patterns::path_by_leaders(parts, shape); }

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
