// Proofs in Python: verdicts, with refutations as objects.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include "circoll/error.hpp"
#include "circoll/verify.hpp"
#include "python/bindings.hpp"
#include "verify/given.hpp"

namespace circoll::python {
namespace {

/// A verdict with the needs that were found out or are declared.
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
  require(p >= 1 && jobs >= 1, "p and jobs are positive");
  const std::vector<RangeVerdict> all =
      verify_range({chosen->selection},
                   {.first = p, .last = p, .all_roots = all_roots, .segments = std::move(segments), .jobs = jobs});
  return all.front();
}

}  // namespace

void add_proofs(py::module_& module) {
  py::class_<Refutation>(module, "Refutation", "The smallest evidence against an algorithm. -1: no single one.")
      .def_property_readonly("claim", [](const Refutation& r) { return std::string(to_string(r.claim)); })
      .def_readonly("id", &Refutation::id)
      .def_readonly("size", &Refutation::size)
      .def_readonly("root", &Refutation::root)
      .def_readonly("in_place", &Refutation::in_place)
      .def_readonly("params", &Refutation::params)
      .def_readonly("rank", &Refutation::rank)
      .def_readonly("step", &Refutation::step)
      .def_readonly("block", &Refutation::block)
      .def_readonly("what", &Refutation::what)
      .def("__str__", &Refutation::to_string)
      .def("__repr__", [](const Refutation& r) { return fmt::format("<Refutation {}>", r.to_string()); });
  py::class_<Proof>(module, "Verdict", "The outcome of a proof; true if everything is proven.")
      .def_property_readonly("proven", [](const Proof& v) { return v.verdict.proven(); })
      .def_property_readonly("refutation", [](const Proof& v) { return v.verdict.refutation; })
      .def_property_readonly("cost", [](const Proof& v) { return v.verdict.counted; })
      .def_property_readonly("messages", [](const Proof& v) { return v.verdict.messages; })
      .def_property_readonly("reductions", [](const Proof& v) { return v.verdict.reductions; })
      .def_property_readonly("by_rotation", [](const Proof& v) { return v.verdict.by_rotation; })
      .def_property_readonly("needs", [](const Proof& v) { return v.claims.needs; })
      .def_property_readonly(
          "guarantees", [](const Proof& v) { return v.claims.guarantees; },
          "What was declared, and proven if this is true. algorithm() finds out those of schedules.")
      .def("__bool__", [](const Proof& v) { return v.verdict.proven(); })
      .def("__repr__", [](const Proof& v) {
        return v.verdict.proven() ? fmt::format("<Verdict proven: {} messages>", v.verdict.messages)
                                  : fmt::format("<Verdict refuted: {}>", v.verdict.refutation->to_string());
      });
  py::class_<RangeVerdict>(module, "RangeVerdict", "The outcome for a family of instances.")
      .def_readonly("id", &RangeVerdict::id)
      .def_readwrite("instances", &RangeVerdict::instances)
      .def_readonly("refutation", &RangeVerdict::refutation);
  module.def("verify", &verify, py::arg("what"), py::arg("p") = 0, py::arg("root") = 0, py::arg("in_place") = false,
             py::call_guard<py::gil_scoped_release>(),
             "Proves an algorithm for p ranks, or the schedules of all ranks.");
  module.def("verify_size", &verify_size, py::arg("what"), py::arg("p"), py::arg("all_roots") = false,
             py::arg("segments") = std::vector<std::int64_t>{}, py::arg("jobs") = 1,
             py::call_guard<py::gil_scoped_release>(),
             "Proves all instances of p ranks: roots, segments, in place and not. verify_range() takes several p.");
}

}  // namespace circoll::python
