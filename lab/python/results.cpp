#include "python/results.hpp"

#include <pybind11/stl.h>

#include "python/bindings.hpp"

namespace circoll::python {

py::object python_of(const Needs& n) {
  return plain("Needs", n.commutative, n.idempotent, n.power_of_two, n.even_size, n.min_size, n.only_size);
}
py::object python_of(const Guarantees& g) { return plain("Guarantees", g.same_bits, g.rank_order, g.direct); }
py::object python_of(const Cost& c) { return plain("Cost", c.rounds, c.sent, c.received, c.reduced, c.copied); }
py::object python_of(const Terms& t) {
  return plain("Terms", t.alpha, t.alpha_uni, t.bytes, t.bytes_uni, t.combined, t.received, t.levels);
}
py::object python_of(const Ranked& r) {
  return plain("Ranked", Chosen{.selection = r.selection}, r.terms, r.time_s, r.unmet_need);
}
py::object python_of(const Decision& d) {
  std::map<std::string, std::string> ruled_out;
  for (const RuledOut& out : d.ruled_out) ruled_out[out.id] = out.why;
  std::vector<std::pair<Chosen, double>> predicted_s;
  for (const Candidate& one : d.candidates) predicted_s.emplace_back(Chosen{.selection = one.selection}, one.seconds);
  return plain("Decision", d.selection ? std::optional(Chosen{.selection = *d.selection}) : std::nullopt, d.policy,
               d.reason, ruled_out, predicted_s);
}
py::object python_of(const Refutation& r) {
  return plain("Refutation", to_string(r.claim), r.id, r.size, r.root, r.in_place, r.params, r.rank, r.step, r.block,
               r.what, r.to_string());
}
py::object python_of(const RangeVerdict& v) { return plain("RangeVerdict", v.id, v.instances, v.refutation); }
py::object python_of(const Repair& r) {
  return plain("Repair", to_string(r.goal), r.why, r.ranks, r.guarantees, r.pieces, r.missing, r.cost);
}

}  // namespace circoll::python
