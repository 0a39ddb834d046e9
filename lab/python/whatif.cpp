// Recorded programs in Python: circoll.whatif plays them as the command does.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "circoll/error.hpp"
#include "measured/file_kind.hpp"
#include "python/bindings.hpp"
#include "whatif/answer.hpp"
#include "whatif/recording.hpp"

namespace circoll::python {
namespace {

struct Played {
  trace::RunFacts facts{};
  std::int64_t calls = 0;
  whatif::Answer answer{};
};

Played whatif_of(const std::filesystem::path& path, const std::optional<Machine>& machine, Rank p, Rank cores,
                 bool balanced, bool fit, const std::vector<Subject>& algorithms,
                 const std::vector<std::string>& policies, const py::object& progress) {
  require(p >= 0 && cores >= 0, "p and cores are not negative");
  Played result;
  run_long("whatif", &progress, [&](LongCall& call) {
    std::vector<Chosen> chosen;  // which own algorithms made of schedules
    whatif::Question question{
        .machine = machine, .ranks = p, .cores = cores, .balanced = balanced, .policies = policies, .fit = fit};
    for (const std::string& policy : policies) measured::require_rules(policy);
    for (const Subject& algorithm : algorithms) {
      chosen.push_back(proven_of(algorithm, [&](double /*part*/) { call.go_on(); }));
      question.algorithms.push_back(chosen.back().selection);
    }
    question.go_on = [&] {
      call.go_on();
      return true;
    };
    question.at = [&](double part) { call.at(part); };
    const trace::Trace trace = whatif::read_recording(path.string());
    result = {.facts = trace.facts, .calls = trace.calls(), .answer = whatif::answer(trace, question)};
  });
  return result;
}

py::object python_of(const whatif::Row& row) {
  return plain("PlayedRun", row.what, row.times.run_s, array_of(row.times.in_collectives_s),
               array_of(row.times.waiting_s));
}

py::object python_of(const Played& played) {
  const whatif::Answer& a = played.answer;
  py::list changes;
  for (const whatif::Row& row : a.changes) changes.append(python_of(row));
  const py::object asked = a.asked ? python_of(*a.asked) : py::none();
  return plain("WhatIf", played.facts.program, played.facts.mpi, played.facts.ranks, played.calls,
               python_of(a.recorded), python_of(a.today), asked, changes, a.notes, a.verdict);
}

}  // namespace
}  // namespace circoll::python

template <>
struct pybind11::detail::type_caster<circoll::python::Played> : circoll::python::ResultCaster<circoll::python::Played> {
};

namespace circoll::python {

void add_whatif(py::module_& module) {
  module.def("whatif", &whatif_of, py::arg("path"), py::arg("machine") = py::none(), py::arg("p") = 0,
             py::arg("cores") = 0, py::arg("balanced") = false, py::arg("fit") = true,
             py::arg("algorithms") = std::vector<Subject>{},
             py::arg("policies") = std::vector<std::string>{"auto", "classic"}, py::arg("progress") = false,
             py::call_guard<py::gil_scoped_release>(),
             "Plays a recorded program (CIRCOLL_TRACE=FILE.calls) with changes, as circoll whatif does.");
}

}  // namespace circoll::python
