// barrier/recursive_multiplying: allreduce/recursive_multiplying of nothing.
//
// Idea      The ranks of a group of `radix` tell one another, level by level. Ranks beyond the places tell their
//           neighbour before and hear from it after.
// Shape     any p; one block of no bytes. The executors send these messages although they are empty.
// Cost      as many rounds as allreduce/recursive_multiplying.
// Scratch   2 (radix - 1) blocks of no bytes at most.
// Order     none.
// Source    MPICH's recexch barrier, UCC's knomial. MPICH's k_dissemination is barrier/nway_dissemination.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/multiplying.hpp"

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
      .when = "never by cost: not measured yet; few levels, where a rank can have radix - 1 messages on their way",
      .automatic = false,
      .peers = {ucc("knomial (radix above 2)")},
      .formula = patterns::multiplying_whole_vectors,
      .params = {patterns::radix_above_two},
      .cost = cost,
      .path = path,
      .levels = patterns::multiplying_levels,
      .on_ports = patterns::multiplying_on_ports,
      .build = build,
  };
}
