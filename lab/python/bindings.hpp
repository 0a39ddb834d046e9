// The Python module circoll._core, in parts: each function adds a part of the library to the module.
//
// The package's own Python (lab/python/circoll) adds the rest. docs/lab/python.md describes both for users.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/model.hpp"
#include "python/long_call.hpp"
#include "python/results.hpp"
#include "sim/sim.hpp"

namespace circoll::python {

namespace py = pybind11;

/// An algorithm with its parameters, as Python has it. Schedules of a program are one, too; then `owned` keeps it.
struct Chosen {
  Selection selection{};
  std::shared_ptr<const Algorithm> owned{};

  /// Throws Error(unsupported) unless p ranks can be served by some operator.
  void require_serves(Rank p) const;
  /// The shape of a call, with the parameters. Throws Error(invalid_argument) unless rank and root are ranks.
  [[nodiscard]] Shape shape(Rank p, Rank rank, Rank root, bool in_place) const;

  friend bool operator==(const Chosen& a, const Chosen& b) {
    return a.selection.algorithm == b.selection.algorithm && a.selection.collective == b.selection.collective &&
           a.selection.params == b.selection.params;
  }
};

/// The subject of a proof, a simulation or an analysis: an id, an algorithm, or the schedules of all ranks.
using Subject = std::variant<std::string, Chosen, std::vector<Schedule>>;

/// The algorithm of a subject; nothing if it consists of schedules. A file is read and proven at each call, since it
/// may change.
[[nodiscard]] std::optional<Chosen> chosen_of(const Subject& subject, const ProofWatch& watch = {});
/// The same, and of schedules the algorithm that consists of them. Throws Error(refuted) if they are wrong.
[[nodiscard]] Chosen proven_of(const Subject& subject, const ProofWatch& watch = {});
/// The needs of schedules. Throws Error(refuted) if they are wrong: simulations and analyses would mean nothing.
Needs require_proven(const std::vector<Schedule>& ranks, const ProofWatch& watch);
/// Returns the result of `read`, whose errors then name the file.
template <class Read>
auto naming(const std::string& path, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(error.code(), what.find(path) == std::string::npos ? path + ": " + what : what);
  }
}
/// The schedules of a file: Circoll's text or JSON, or XML of MSCCL.
[[nodiscard]] std::vector<Schedule> schedules_of(const std::filesystem::path& path);
/// The number of ranks: p, or that of the schedules, with which p must agree if it is not 0. Throws Error.
[[nodiscard]] Rank size_of(const Subject& subject, Rank p);
/// The collective of this name. Throws Error(unknown_name).
[[nodiscard]] Collective collective_of(std::string_view name);
/// The operator and the type of a name. Throws Error(unknown_name).
[[nodiscard]] Op operator_of(std::string_view name);
[[nodiscard]] Type type_of(std::string_view name);
/// The properties of an operator by its name; those of all operators together if the collective has none.
[[nodiscard]] OperatorTraits traits_of(Collective collective, std::string_view name);
/// Throws Error(invalid_argument) unless the root is a rank.
void check_root(Rank root, Rank p);
/// The machine given, or the default one.
[[nodiscard]] Machine machine_or_default(const std::optional<Machine>& machine);

/// The ranks that are played, and the name of what they do.
struct Simulated {
  std::string id;
  sim::Ranks ranks;
};
/// The ranks of a subject; an algorithm has the parameters that the cost model finds best. `jobs` threads generate
/// schedules; 0: one per core. It is the first half of a long call.
[[nodiscard]] Simulated simulated_of(const Subject& subject, Rank p, Count bytes, Rank root, const Machine& machine,
                                     int jobs, LongCall& call);
/// The number of threads for `jobs`; 0: one per core.
[[nodiscard]] int threads_of(int jobs);

/// The result of `compute`, which runs without the interpreter's lock.
template <class Compute>
auto unlocked(Compute&& compute) {
  const py::gil_scoped_release lock_free;
  return compute();
}

/// A structured array with a copy of the rows.
template <class Row>
py::array_t<Row> array_of(const std::vector<Row>& rows) {
  return py::array_t<Row>(static_cast<py::ssize_t>(rows.size()), rows.data());
}
/// An array that shows numbers of an object, which it keeps alive.
template <class Number>
py::array_t<Number> view_of(const std::vector<Number>& numbers, const py::object& owner) {
  py::array_t<Number> view(static_cast<py::ssize_t>(numbers.size()), numbers.data(), owner);
  view.attr("flags").attr("writeable") = false;
  return view;
}

void add_algorithms(py::module_& module);
void add_machines(py::module_& module);
void add_rules(py::module_& module);
void add_schedules(py::module_& module);
void add_builder(py::module_& module);
void add_proofs(py::module_& module);
void add_simulation(py::module_& module);
void add_traffic(py::module_& module);
void add_failures(py::module_& module);
void add_execution(py::module_& module);
void add_whatif(py::module_& module);

}  // namespace circoll::python
