// barrier/recursive_multiplying: allreduce/recursive_multiplying of nothing.
//
// Idea      The ranks of a group of `radix` tell one another, level by level. Ranks beyond the places tell their
//           neighbour before and hear from it after.
// Shape     any p; one block of no bytes. The executors send these messages although they are empty.
// Cost      as many rounds as allreduce/recursive_multiplying.
// Scratch   2 (radix - 1) blocks of no bytes at most.
// Order     none.
// Source    MPICH, coll/barrier (k-nomial dissemination, recexch).
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/multiplying.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

constexpr std::string_view allreduce = "allreduce/recursive_multiplying";

void build(Builder& b) { patterns::barrier_by_allreduce(b, allreduce); }
Cost cost(const Shape& shape) { return patterns::cost_of_barrier_by_allreduce(shape, allreduce); }
CriticalPath path(const Shape& shape) { return parse_selection(allreduce).algorithm->path(shape); }

}  // namespace

CIRCOLL_ALGORITHM(barrier, recursive_multiplying) {
  return {
      .summary = "exchanges in groups of radix ranks, level by level",
      .source = "MPICH, coll/barrier",
      .family = Family::recursive_doubling,
      .when = "never by cost: a round for every message; few levels where a rank can have several on their way",
      .formula = patterns::multiplying_whole_vectors,
      .params = {patterns::radix},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
