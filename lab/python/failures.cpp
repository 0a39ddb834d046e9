// Failures of ranks in Python: what survivors hold, and repairs.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include "circoll/error.hpp"
#include "faults/faults.hpp"
#include "python/bindings.hpp"

namespace circoll::python {
namespace {

struct FailureRow {
  std::uint32_t k;
  std::int32_t failure;
  std::uint8_t what;
  std::int32_t pieces, copies;
  std::int64_t lost, contributed, needed;
};

/// Outcomes round by round; of each round one for every set of ranks that fail together.
struct Failures {
  std::string id{};
  std::string keep{};
  Rank p = 0;
  std::uint32_t rounds = 0;
  Block blocks = 0;
  std::vector<std::vector<Rank>> failed{};
  std::vector<FailureRow> rows{};
};

Keep keep_of(const std::string& name) {
  for (const Keep keep : {Keep::live, Keep::buf, Keep::keep, Keep::log}) {
    if (name == to_string(keep)) return keep;
  }
  throw Error(ErrorCode::unknown_name, fmt::format("keep is live, buf, keep or log, not '{}'", name));
}

/// The analysis of a subject, and its name.
struct Analysed {
  std::string id;
  FaultAnalysis analysis;
};

Analysed analysed(const Subject& subject, Rank p, const std::string& keep, Rank root, bool in_place, LongCall& call) {
  const Rank size = size_of(subject, p);
  const ProofWatch watch = [&](double) { call.go_on(); };
  const std::optional<Chosen> chosen = chosen_of(subject, watch);
  if (!chosen) {
    const auto& ranks = std::get<std::vector<Schedule>>(subject);
    const bool idempotent = require_proven(ranks, watch).idempotent;
    return {ranks.front().id, {ranks, keep_of(keep), idempotent}};
  }
  const Selection& s = chosen->selection;
  return {s.id(), {*s.algorithm, s.collective, chosen->shape(size, 0, root, in_place), keep_of(keep)}};
}

Failures failures_of(const Subject& subject, Rank p, const std::string& keep, Rank root, bool in_place,
                     std::vector<std::vector<Rank>> failed, bool ahead, LongCall& call) {
  const auto [id, analysis] = analysed(subject, p, keep, root, in_place, call);
  require(analysis.size() >= 2, "a rank may fail if another survives: p is 2 or more");
  if (failed.empty()) {
    for (Rank f = 0; f < analysis.size(); ++f) failed.push_back({f});
  }
  Failures all{.id = id,
               .keep = keep,
               .p = analysis.size(),
               .rounds = analysis.rounds(),
               .blocks = analysis.blocks(),
               .failed = std::move(failed)};
  const auto total = static_cast<double>(all.rounds + 1) * static_cast<double>(all.failed.size());
  for (std::uint32_t k = 0; k <= all.rounds; ++k) {
    for (std::size_t i = 0; i < all.failed.size(); ++i) {
      const FailureOutcome o = ahead ? analysis.ahead(k, all.failed[i]) : analysis.after(k, all.failed[i]);
      all.rows.push_back({k, static_cast<std::int32_t>(i), static_cast<std::uint8_t>(o.what), o.pieces, o.copies,
                          o.lost, o.contributed, o.needed});
      call.at(static_cast<double>(all.rows.size()) / total);
    }
  }
  return all;
}

Failures faults(const Subject& subject, Rank p, const std::string& keep, Rank root, bool in_place,
                const std::vector<std::vector<Rank>>& failed, bool ahead, const py::object& progress) {
  Failures all;
  run_long("faults", &progress,
           [&](LongCall& call) { all = failures_of(subject, p, keep, root, in_place, failed, ahead, call); });
  return all;
}

Repair repair(const Subject& subject, std::uint32_t k, const std::vector<Rank>& failed, Rank p, const std::string& keep,
              Rank root, bool in_place) {
  Repair found;
  run_long("repair", nullptr, [&](LongCall& call) {
    found = analysed(subject, p, keep, root, in_place, call).analysis.repair_after(k, failed);
  });
  return found;
}

std::vector<std::string> class_names() {
  std::vector<std::string> names;
  for (const FailureClass c : {FailureClass::none, FailureClass::mix, FailureClass::surv, FailureClass::full,
                               FailureClass::both, FailureClass::unknown})
    names.emplace_back(to_string(c));
  return names;
}

py::object python_of(const Failures& f) {
  return plain("Failures", f.id, f.keep, f.p, f.rounds, f.blocks, f.failed, array_of(f.rows));
}

}  // namespace

}  // namespace circoll::python

template <>
struct pybind11::detail::type_caster<circoll::python::Failures>
    : circoll::python::ResultCaster<circoll::python::Failures> {};

namespace circoll::python {

void add_failures(py::module_& module) {
  PYBIND11_NUMPY_DTYPE_EX(FailureRow, k, "k", failure, "failure", what, "class", pieces, "pieces", copies, "copies",
                          lost, "lost", contributed, "contributed", needed, "needed");
  module.attr("FAILURE_CLASSES") = py::tuple(py::cast(class_names()));
  module.def("faults", &faults, py::arg("what"), py::arg("p") = 0, py::arg("keep") = "buf", py::arg("root") = 0,
             py::arg("in_place") = false, py::arg("failed") = std::vector<std::vector<Rank>>{},
             py::arg("ahead") = false, py::arg("progress") = false, py::call_guard<py::gil_scoped_release>(),
             "What survivors hold when ranks fail. By default each rank fails by itself.");
  module.def("repair", &repair, py::arg("what"), py::arg("k"), py::arg("failed"), py::arg("p") = 0,
             py::arg("keep") = "buf", py::arg("root") = 0, py::arg("in_place") = false,
             py::call_guard<py::gil_scoped_release>(),
             "How survivors end the collective if these ranks fail after k rounds.");
}

}  // namespace circoll::python
