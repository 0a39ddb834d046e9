// The module itself: errors of the library as exceptions of circoll.errors, and helpers of all parts.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <exception>
#include <thread>

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

/// pybind11 reads arrays of NumPy 2 wrongly before its version 2.12.
void require_readable_arrays() {
#if PYBIND11_VERSION_HEX < 0x020C0000
  const auto version = py::module_::import("numpy").attr("__version__").cast<std::string>();
  if (version.starts_with("0.") || version.starts_with("1.")) return;
  throw py::import_error(
      fmt::format("circoll was built with pybind11 {}.{}, which cannot read arrays of NumPy {}: "
                  "python3 -m pip install 'numpy<2'",
                  PYBIND11_VERSION_MAJOR, PYBIND11_VERSION_MINOR, version));
#endif
}

/// The algorithm of schedules, under a name.
Chosen made_of(std::vector<Schedule> ranks, std::string name, const ProofWatch& watch) {
  const std::shared_ptr<const Algorithm> made = select::algorithm_of(std::move(ranks), std::move(name), watch);
  return {.selection = {.algorithm = made.get(), .collective = made->collectives.front()}, .owned = made};
}

/// The algorithm of an id. Unlike parse_selection(), this reads a file anew.
Chosen chosen_of_id(const std::string& id, const ProofWatch& watch) {
  const std::size_t slash = id.starts_with("file:") ? std::string::npos : id.find('/');
  const std::string name = slash == std::string::npos ? id : id.substr(slash + 1);
  if (!name.starts_with("file:")) return {.selection = parse_selection(id)};
  const std::string path = name.substr(5);
  Chosen chosen = naming(path, [&] { return made_of(schedules_of(path), name, watch); });
  if (slash != std::string::npos && collective_of(id.substr(0, slash)) != chosen.selection.collective)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has schedules of another collective than {}", name, id.substr(0, slash)));
  return chosen;
}

}  // namespace

void Chosen::require_serves(Rank p) const {
  const std::string unmet = unmet_need(selection, p, {.commutative = true, .idempotent = true});
  if (!unmet.empty()) throw Error(ErrorCode::unsupported, fmt::format("{} {}", selection.id(), unmet));
}

Shape Chosen::shape(Rank p, Rank rank, Rank root, bool in_place) const {
  constexpr Rank most_ranks = Rank{1} << 40;  // beyond it, products of some algorithms overflow
  require(p >= 1 && p <= most_ranks, "the number of ranks is from 1 to 2^40");
  if (rank < 0 || rank >= p)
    throw Error(ErrorCode::invalid_argument, fmt::format("the rank {} is none of {} ranks", rank, p));
  check_root(root, p);
  return {.size = p, .rank = rank, .root = root, .in_place = in_place, .params = selection.params};
}

std::optional<Chosen> chosen_of(const Subject& subject, const ProofWatch& watch) {
  if (const auto* id = std::get_if<std::string>(&subject)) return chosen_of_id(*id, watch);
  if (const auto* chosen = std::get_if<Chosen>(&subject)) return *chosen;
  return std::nullopt;
}

Chosen proven_of(const Subject& subject, const ProofWatch& watch) {
  if (std::optional<Chosen> chosen = chosen_of(subject, watch)) return *std::move(chosen);
  const auto& schedules = std::get<std::vector<Schedule>>(subject);
  require(!schedules.empty(), "there are no schedules");
  const std::string& id = schedules.front().id;
  return made_of(schedules, id.substr(id.find('/') + 1), watch);
}

Needs require_proven(const std::vector<Schedule>& ranks, const ProofWatch& watch) {
  check_one_call(ranks);
  GivenProof proof = prove_given(ranks, watch);
  if (proof.verdict.proven()) return proof.claims.needs;
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

Op operator_of(std::string_view name) {
  if (const auto op = op_from_string(name)) return *op;
  throw Error(ErrorCode::unknown_name, fmt::format("there is no operator '{}'", name));
}

Type type_of(std::string_view name) {
  if (const auto type = type_from_string(name)) return *type;
  throw Error(ErrorCode::unknown_name, fmt::format("there is no type '{}'", name));
}

OperatorTraits traits_of(Collective collective, std::string_view name) {
  if (!is_reducing(collective)) return {.commutative = true, .idempotent = true};
  const Op op = operator_of(name);
  return {.commutative = is_commutative(op), .idempotent = is_idempotent(op)};
}

void check_root(Rank root, Rank p) {
  if (root < 0 || root >= p)
    throw Error(ErrorCode::invalid_argument, fmt::format("the root {} is none of {} ranks", root, p));
}

Machine machine_or_default(const std::optional<Machine>& machine) { return machine ? *machine : default_machine(); }

Simulated simulated_of(const Subject& subject, Rank p, Count bytes, Rank root, const Machine& machine, int jobs,
                       LongCall& call) {
  const Rank size = size_of(subject, p);
  const std::optional<Chosen> chosen = chosen_of(subject, call.proof(0, 0.5));
  if (!chosen) {
    const auto& ranks = std::get<std::vector<Schedule>>(subject);
    require_proven(ranks, call.proof(0, 0.5));
    return {.id = ranks.front().id, .ranks = sim::Ranks(ranks)};
  }
  chosen->require_serves(size);
  check_root(root, size);
  const Selection complete =
      with_best_parameters(with_segment_count(chosen->selection, size, bytes), size, bytes, machine, root);
  std::string id = fmt::format("{}/{}", to_string(complete.collective), complete.text());
  return {.id = std::move(id), .ranks = sim::Ranks(complete, size, root, threads_of(jobs), [&](Rank generated) {
                                 call.at(0.5 * static_cast<double>(generated) / static_cast<double>(size));
                                 return true;
                               })};
}

int threads_of(int jobs) {
  require(jobs >= 0, "jobs are not negative");
  return jobs > 0 ? jobs : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace circoll::python

PYBIND11_MODULE(_core, module) {
  using namespace circoll::python;
  module.doc() = "The compiled part of the package circoll.";
  require_readable_arrays();
  py::register_exception_translator(translate);
  add_machines(module);
  add_rules(module);
  add_schedules(module);
  add_builder(module);
  add_algorithms(module);
  add_proofs(module);
  add_simulation(module);
  add_traffic(module);
  add_failures(module);
  add_execution(module);
  add_whatif(module);
}
