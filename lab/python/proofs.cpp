// Proofs in Python: verdicts, with refutations as objects.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>

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

Proof proof_of(const Subject& subject, Rank p, Rank root, bool in_place, LongCall& call) {
  const Rank size = size_of(subject, p);
  if (const std::optional<Chosen> chosen = chosen_of(subject, call.proof(0, 1))) {
    const Selection& s = chosen->selection;
    chosen->require_serves(size);
    check_root(root, size);
    Proof proof{.verdict = verify_algorithm(*s.algorithm, s.collective, chosen->shape(size, 0, root, in_place), {},
                                            ProofMethod::automatic, call.proof(0, 1))};
    proof.claims.needs = needs_of(*s.algorithm, s.collective, s.params);
    proof.claims.guarantees = guarantees_of(*s.algorithm, s.params);
    return proof;
  }
  const auto& ranks = std::get<std::vector<Schedule>>(subject);
  check_one_call(ranks);
  GivenProof given = prove_given(ranks, call.proof(0, 1));
  if (given.verdict.refutation) given.verdict.refutation->id = ranks.front().id;
  return {.verdict = std::move(given.verdict), .claims = given.claims};
}

Proof verify(const Subject& subject, Rank p, Rank root, bool in_place, const py::object& progress) {
  Proof proof;
  run_long("verify", &progress, [&](LongCall& call) { proof = proof_of(subject, p, root, in_place, call); });
  return proof;
}

/// All instances of some p: roots, segments, in place and not.
RangeVerdict verify_sizes(const Subject& subject, std::vector<Rank> sizes, bool all_roots,
                          const std::vector<std::int64_t>& segments, int jobs, const py::object& progress) {
  RangeVerdict verdict;
  run_long("verify_range", &progress, [&](LongCall& call) {
    const std::optional<Chosen> chosen = chosen_of(subject, [&](double) { call.go_on(); });
    require(chosen.has_value(), "schedules are for one number of ranks: verify() proves them");
    require(!sizes.empty(), "verify_range needs at least one number of ranks");
    std::ranges::sort(sizes);
    require(sizes.front() >= 1, "p is positive");
    VerifyRange range{.first = sizes.front(), .last = sizes.back(), .only = sizes, .all_roots = all_roots};
    range.segments = segments;
    range.jobs = threads_of(jobs);
    range.progress = [&](std::int64_t done, std::int64_t total) {
      call.at(static_cast<double>(done) / static_cast<double>(total));
    };
    range.watch = [&](double) { call.go_on(); };
    verdict = verify_range({chosen->selection}, range).front();
  });
  return verdict;
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
             py::arg("progress") = false, py::call_guard<py::gil_scoped_release>(),
             "Proves an algorithm for p ranks, or the schedules of all ranks.");
  module.def("_verify_sizes", &verify_sizes, py::arg("what"), py::arg("sizes"), py::arg("all_roots") = false,
             py::arg("segments") = std::vector<std::int64_t>{}, py::arg("jobs") = 0, py::arg("progress") = false,
             py::call_guard<py::gil_scoped_release>(),
             "Proves all instances of some numbers of ranks: roots, segments, in place and not.");
}

}  // namespace circoll::python
