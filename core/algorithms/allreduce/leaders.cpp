// allreduce/leaders: inside every node to its leader, among the leaders, and back.
//
// Idea      One rank of every node (the leader) combines the contributions of its node, the leaders combine theirs by
//           recursive doubling, and each spreads the result on its node. Between nodes travel as many vectors as there
//           are nodes, not ranks: for short vectors on nodes of many ranks. Inside nodes a rank has radix - 1 children
//           per level of a tree: more than one pays where many short messages can be on their way at once.
// Shape     any p; one block; `cores` consecutive ranks on a node, the last node may have fewer.
// Cost      with S = ceil(p / cores) nodes, c = min(cores, p): twice the rounds of bcast/knomial on c ranks inside
//           nodes (2 ceil(log2 c) for radix 2), and between them those of recursive_doubling on S ranks: floor(log2 S),
//           and 2 more unless S is a power of two.
// Scratch   six blocks.
// Order     rank order: any associative operator; same bits on all ranks.
// Source    the hierarchical collectives of MPI libraries; Karonis et al., Exploiting hierarchy in parallel
//           computer networks to optimize collective operation performance, IPDPS 2000.
#include "circoll/algorithm.hpp"
#include "patterns/nodes.hpp"

namespace {

using namespace circoll;

constexpr const char* between = "allreduce/recursive_doubling";

void build(Builder& b) { patterns::allreduce_by_leaders(b, between); }
Cost cost(const Shape& shape) { return patterns::cost_by_leaders(between, shape); }
CriticalPath path(const Shape& shape) { return patterns::path_by_leaders(between, shape); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, leaders) {
  return {
      .summary = "to the leader of every node, recursive doubling among leaders, and back; short vectors",
      .source = "Karonis et al. 2000",
      .family = Family::hierarchical,
      .when =
          "about 1 KiB on nodes of many ranks (p = 80 on 5 nodes): one vector per node and round crosses the network",
      .peers = {mpich("smp"), ucc("rab (CL/HIER)")},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "2 d + F + 2[S>2^F], d = sum(i, 0, q-1, min(radix, ceil(c/radix^i)) - 1), F = floor(log2 "
                            "S), S = ceil(p/cores), c = min(cores, p)",
                  .sent = "d + F + [S>2^F], d = sum(i, 0, q-1, min(radix, ceil(c/radix^i)) - 1), F = floor(log2 S), S "
                          "= ceil(p/cores), c = min(cores, p)",
                  .reduced = "d + F + [S>2^F], d = sum(i, 0, q-1, min(radix, ceil(c/radix^i)) - 1), F = floor(log2 S), "
                             "S = ceil(p/cores), c = min(cores, p)",
                  .two_way = "floor(log2 S), S = ceil(p/cores)",
                  .one_way = "rounds - floor(log2 S), S = ceil(p/cores)",
                  .volume = "floor(log2 S), S = ceil(p/cores)",
                  .one_way_volume = "one_way",
                  .combined = "d + F + [S>2^F], d = sum(i, 0, q-1, min(radix, ceil(c/radix^i)) - 1), F = floor(log2 "
                              "S), S = ceil(p/cores), c = min(cores, p)"},
      .params = {patterns::cores, patterns::inner_radix},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
