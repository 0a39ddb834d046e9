// The facts of a call, and the selections that they admit: the rules that no policy may break.
#include <algorithm>

#include "circoll/collectives.hpp"
#include "circoll/ops.hpp"
#include "circoll/select.hpp"

namespace circoll {

CallFacts facts_of(Collective collective, Rank p, Count bytes, Op op, Type type) {
  CallFacts facts{.collective = collective, .p = p, .bytes = Amounts::of_vector(collective, p, bytes).deciding_bytes()};
  if (is_reducing(collective)) {
    facts.op = {.commutative = is_commutative(op), .idempotent = is_idempotent(op)};
    facts.exact_op = is_order_free(op, type);
  }
  return facts;
}

Rank ranks_per_node_of(const CallFacts& facts) { return std::clamp<Rank>(facts.cores, 1, std::max<Rank>(facts.p, 1)); }

Rank nodes_of(const CallFacts& facts) {
  const Rank cores = ranks_per_node_of(facts);
  return facts.nodes > 0 ? facts.nodes : (facts.p + cores - 1) / cores;
}

std::string why_not(const Selection& selection, const CallFacts& facts, bool allow_rank_divergence) {
  std::string unmet = unmet_need(selection, facts.p, facts.op);
  if (!unmet.empty()) return unmet;
  // Only an allreduce computes one result on several ranks, so only there can ranks differ.
  if (facts.collective == Collective::allreduce && !facts.exact_op && !selection.algorithm->guarantees.same_bits &&
      !allow_rank_divergence) {
    return "may give ranks different bits, since the operator is not exact";
  }
  return {};
}

Selection completed(const Selection& selection, Rank p, Count bytes, const Machine& machine) {
  if (selection.params.contains("segment")) return with_segment_count(selection, p, bytes);
  return with_best_segments(selection, p, bytes, machine);
}

}  // namespace circoll
