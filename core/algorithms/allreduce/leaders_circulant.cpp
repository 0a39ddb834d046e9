// allreduce/leaders_circulant: as allreduce/leaders in fewer rounds, for operators that commute.
//
// Idea      Inside nodes it uses the same trees, in which a rank has radix - 1 children per level. The leaders run the
//           direct allreduce on the circulant graph. Its rounds are ceil(log2 S) for any number S of nodes, where
//           recursive doubling needs two more than floor(log2 S) unless S is a power of two.
// Shape     any p; one block; `cores` consecutive ranks on a node, the last node may have fewer.
// Cost      with S = ceil(p / cores) nodes, c = min(cores, p): twice the rounds of bcast/knomial on c ranks inside
//           nodes, and ceil(log2 S) between them.
// Scratch   seven blocks.
// Order     commutative operators; ranks of different nodes may get different bits of a floating-point sum.
// Source    Karonis et al., IPDPS 2000, with allreduce/circulant (Traff et al., Uniform Algorithms, Listing 2).
#include "circoll/algorithm.hpp"
#include "patterns/nodes.hpp"

namespace {

using namespace circoll;

constexpr const char* between = "allreduce/circulant";

void build(Builder& b) { patterns::allreduce_by_leaders(b, between); }
Cost cost(const Shape& shape) { return patterns::cost_by_leaders(between, shape); }
CriticalPath path(const Shape& shape) { return patterns::path_by_leaders(between, shape); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, leaders_circulant) {
  return {
      .summary = "to the leader of every node, the direct circulant allreduce among leaders, and back; short vectors",
      .source = "Traff et al., Uniform Algorithms, III-B; Karonis et al. 2000",
      .family = Family::circulant,
      .when = "as leaders, for operators that commute and are exact on the type, at every number of nodes",
      .needs = {.commutative = true},
      .formula = {.rounds =
                      "2 d + ceil(log2 S), d = sum(i, 0, q-1, min(radix, ceil(c/radix^i)) - 1), S = ceil(p/cores), "
                      "c = min(cores, p)",
                  .sent = "d + ceil(log2 S), d = sum(i, 0, q-1, min(radix, ceil(c/radix^i)) - 1), S = ceil(p/cores), "
                          "c = min(cores, p)",
                  .reduced = "d + ceil(log2 S) + max(0, ones(S-1) - twos(S) - 1), d = sum(i, 0, q-1, min(radix, "
                             "ceil(c/radix^i)) - 1), S = ceil(p/cores), c = min(cores, p)",
                  .two_way = "ceil(log2 S), S = ceil(p/cores)",
                  .one_way = "rounds - ceil(log2 S), S = ceil(p/cores)",
                  .volume = "ceil(log2 S), S = ceil(p/cores)",
                  .one_way_volume = "one_way",
                  .combined = "d + ceil(log2 S) + max(0, ones(S-1) - twos(S) - 1), d = sum(i, 0, q-1, min(radix, "
                              "ceil(c/radix^i)) - 1), S = ceil(p/cores), c = min(cores, p)"},
      .params = {patterns::cores, patterns::inner_radix},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
