// The module itself: errors of the library as exceptions of circoll.errors, and helpers of all parts.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <exception>

#include "circoll/error.hpp"
#include "circoll/ops.hpp"
#include "circoll/select.hpp"
#include "python/bindings.hpp"
#include "select/schedule_file.hpp"
#include "verify/given.hpp"

namespace circoll::python {
namespace {

/// Errors become exceptions of the class that circoll.errors has for their code.
void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(std::move(thrown));
  } catch (const Error& error) {
    const py::object exception =
        py::module_::import("circoll.errors").attr("error_of")(static_cast<int>(error.code()), error.what());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  }
}

}  // namespace

void Chosen::require_serves(Rank p) const {
  const std::string unmet = unmet_need(selection, p, {.commutative = true, .idempotent = true});
  if (!unmet.empty()) throw Error(ErrorCode::unsupported, fmt::format("{} {}", selection.id(), unmet));
}

Shape Chosen::shape(Rank p, Rank rank, Rank root, bool in_place) const {
  return {.size = p, .rank = rank, .root = root, .in_place = in_place, .params = selection.params};
}

std::optional<Chosen> chosen_of(const Subject& subject) {
  if (const auto* id = std::get_if<std::string>(&subject)) return Chosen{.selection = parse_selection(*id)};
  if (const auto* chosen = std::get_if<Chosen>(&subject)) return *chosen;
  return std::nullopt;
}

Chosen proven_of(const Subject& subject) {
  if (std::optional<Chosen> chosen = chosen_of(subject)) return *std::move(chosen);
  const auto& schedules = std::get<std::vector<Schedule>>(subject);
  require(!schedules.empty(), "there are no schedules");
  const std::string& id = schedules.front().id;
  const std::shared_ptr<const Algorithm> made = select::algorithm_of(schedules, id.substr(id.find('/') + 1));
  return {.selection = {.algorithm = made.get(), .collective = made->collectives.front()}, .owned = made};
}

void require_proven(const std::vector<Schedule>& ranks) {
  GivenProof proof = prove_given(ranks);
  if (proof.verdict.proven()) return;
  proof.verdict.refutation->id = ranks.front().id;
  throw Error(ErrorCode::refuted, proof.verdict.refutation->to_string());
}

Rank size_of(const Subject& subject, Rank p) {
  const auto* schedules = std::get_if<std::vector<Schedule>>(&subject);
  if (schedules == nullptr) {
    require(p >= 1, "p, the number of ranks, is needed");
    return p;
  }
  require(!schedules->empty(), "there are no schedules");
  const Rank size = schedules->front().shape.size;
  require(p == 0 || p == size, "the schedules are for another number of ranks; leave out p");
  return size;
}

Collective collective_of(std::string_view name) {
  if (const auto collective = collective_from_string(name)) return *collective;
  throw Error(ErrorCode::unknown_name, fmt::format("there is no collective '{}'; circoll.collectives() has all", name));
}

OperatorTraits traits_of(Collective collective, std::string_view name) {
  if (!is_reducing(collective)) return {.commutative = true, .idempotent = true};
  const auto op = op_from_string(name);
  if (!op) throw Error(ErrorCode::unknown_name, fmt::format("there is no operator '{}'", name));
  return {.commutative = is_commutative(*op), .idempotent = is_idempotent(*op)};
}

void check_root(Rank root, Rank p) {
  if (root < 0 || root >= p)
    throw Error(ErrorCode::invalid_argument, fmt::format("the root {} is none of {} ranks", root, p));
}

Machine machine_or_default(const std::optional<Machine>& machine) { return machine ? *machine : default_machine(); }

bool no_signal() {
  const py::gil_scoped_acquire lock;
  return PyErr_CheckSignals() == 0;
}

}  // namespace circoll::python

PYBIND11_MODULE(_core, module) {
  using namespace circoll::python;
  module.doc() = "The compiled part of the package circoll.";
  py::register_exception_translator(translate);
  add_machines(module);
  add_schedules(module);
  add_builder(module);
  add_algorithms(module);
  add_proofs(module);
  add_simulation(module);
  add_traffic(module);
  add_failures(module);
  add_execution(module);
}
