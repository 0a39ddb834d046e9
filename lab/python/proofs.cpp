// Proofs in Python: verdicts, with refutations as objects.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include "circoll/error.hpp"
#include "circoll/verify.hpp"
#include "python/bindings.hpp"
#include "verify/given.hpp"

namespace circoll::python {
namespace {

/// A verdict with the needs and guarantees that are declared, or that were found out.
struct Proof {
  Verdict verdict{};
  Claims claims{};
};

Proof verify(const Subject& subject, Rank p, Rank root, bool in_place) {
  const Rank size = size_of(subject, p);
  if (const std::optional<Chosen> chosen = chosen_of(subject)) {
    const Selection& s = chosen->selection;
    chosen->require_serves(size);
    check_root(root, size);
    Proof proof{.verdict = verify_algorithm(*s.algorithm, s.collective, chosen->shape(size, 0, root, in_place))};
    proof.claims.needs = needs_of(*s.algorithm, s.collective, s.params);
    proof.claims.guarantees = guarantees_of(*s.algorithm, s.params);
    return proof;
  }
  const auto& ranks = std::get<std::vector<Schedule>>(subject);
  check_one_call(ranks);
  GivenProof given = prove_given(ranks);
  if (given.verdict.refutation) given.verdict.refutation->id = ranks.front().id;
  return {.verdict = std::move(given.verdict), .claims = given.claims};
}

/// All instances of one p: roots, segments, in place and not.
RangeVerdict verify_size(const Subject& subject, Rank p, bool all_roots, std::vector<std::int64_t> segments, int jobs) {
  const std::optional<Chosen> chosen = chosen_of(subject);
  require(chosen.has_value(), "schedules are for one number of ranks: verify() proves them");
  require(p >= 1, "p is positive");
  const std::vector<RangeVerdict> all = verify_range(
      {chosen->selection},
      {.first = p, .last = p, .all_roots = all_roots, .segments = std::move(segments), .jobs = threads_of(jobs)});
  return all.front();
}

py::object python_of(const Proof& p) {
  return plain("Verdict", p.verdict.refutation, p.verdict.counted, p.verdict.messages, p.verdict.reductions,
               p.verdict.by_rotation, p.claims.needs, p.claims.guarantees);
}

}  // namespace
}  // namespace circoll::python

template <>
struct pybind11::detail::type_caster<circoll::python::Proof> : circoll::python::ResultCaster<circoll::python::Proof> {};

namespace circoll::python {

void add_proofs(py::module_& module) {
  module.def("verify", &verify, py::arg("what"), py::arg("p") = 0, py::arg("root") = 0, py::arg("in_place") = false,
             py::call_guard<py::gil_scoped_release>(),
             "Proves an algorithm for p ranks, or the schedules of all ranks.");
  module.def("_verify_size", &verify_size, py::arg("what"), py::arg("p"), py::arg("all_roots") = false,
             py::arg("segments") = std::vector<std::int64_t>{}, py::arg("jobs") = 0,
             py::call_guard<py::gil_scoped_release>(),
             "Proves all instances of p ranks: roots, segments, in place and not.");
}

}  // namespace circoll::python
