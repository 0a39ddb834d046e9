#include "python/results.hpp"

#include <pybind11/stl.h>

#include <map>
#include <optional>

#include "python/bindings.hpp"

namespace circoll::python {

py::object python_of(const Needs& needs) {
  return plain("Needs", needs.commutative, needs.idempotent, needs.power_of_two, needs.even_size, needs.min_size,
               needs.only_size);
}
py::object python_of(const Guarantees& guarantees) {
  return plain("Guarantees", guarantees.same_bits, guarantees.rank_order, guarantees.direct);
}
py::object python_of(const Cost& cost) {
  return plain("Cost", cost.rounds, cost.sent, cost.received, cost.reduced, cost.copied);
}
py::object python_of(const Terms& terms) {
  return plain("Terms", terms.alpha, terms.alpha_uni, terms.bytes, terms.bytes_uni, terms.combined, terms.received,
               terms.levels);
}
py::object python_of(const Ranked& ranked) {
  return plain("Ranked", Chosen{.selection = ranked.selection}, ranked.terms, ranked.time_s, ranked.unmet_need);
}
py::object python_of(const Decision& decision) {
  std::map<std::string, std::string> ruled_out;
  for (const RuledOut& out : decision.ruled_out) ruled_out[out.id] = out.why;
  std::vector<std::pair<Chosen, double>> predicted_s;
  for (const Candidate& one : decision.candidates)
    predicted_s.emplace_back(Chosen{.selection = one.selection}, one.seconds);
  return plain("Decision", decision.selection ? std::optional(Chosen{.selection = *decision.selection}) : std::nullopt,
               decision.policy, decision.reason, ruled_out, predicted_s);
}
py::object python_of(const Refutation& refutation) {
  return plain("Refutation", to_string(refutation.claim), refutation.id, refutation.size, refutation.root,
               refutation.in_place, refutation.params, refutation.rank, refutation.step, refutation.block,
               refutation.what, refutation.to_string());
}
py::object python_of(const RangeVerdict& verdict) {
  return plain("RangeVerdict", verdict.id, verdict.instances, verdict.refutation);
}
py::object python_of(const Repair& repair) {
  return plain("Repair", to_string(repair.goal), repair.why, repair.ranks, repair.guarantees, repair.pieces,
               repair.missing, repair.cost);
}

}  // namespace circoll::python
