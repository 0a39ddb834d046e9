// Executions in Python: a schedule bound to sizes, for circoll.run over MPI, and runs in this process.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/ops.hpp"
#include "circoll/plan.hpp"
#include "circoll/select.hpp"
#include "exec/local/job.hpp"
#include "oracle/oracle.hpp"
#include "python/bindings.hpp"

namespace circoll::python {
namespace {

struct PlanStepRow {
  std::uint8_t kind;
  bool empty;
  std::uint32_t tag;
  Rank peer;
  std::uint32_t first, length, first_run, run_count, waits_for;
};
/// Elements of an area, by their numbers.
struct PieceRow {
  std::uint8_t area;
  Count first, count;
};
struct RunRow {
  PieceRow dst, left, right;
};

PieceRow row_of(const Piece& piece) {
  return {static_cast<std::uint8_t>(piece.area), piece.offset_bytes, piece.elements};
}

py::array_t<PlanStepRow> steps_of(const Plan& plan) {
  std::vector<PlanStepRow> rows;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& s = plan.steps[i];
    rows.push_back({static_cast<std::uint8_t>(s.kind), s.empty, s.tag, s.peer, s.first, s.length, s.first_run,
                    s.run_count, plan.dependencies.in_degree[i]});
  }
  return array_of(rows);
}

/// Binds with one byte to an element. Offsets in bytes are then numbers of elements.
Plan plan_of(const Schedule& schedule, const std::vector<Count>& counts) {
  require(counts.size() == 1 || counts.size() == static_cast<std::size_t>(schedule.user_blocks),
          "there is one count for all blocks, or one for each");
  require(std::ranges::all_of(counts, [](Count count) { return count >= 0; }), "counts are not negative");
  return bind(schedule,
              counts.size() == 1 ? Layout::uniform(schedule.user_blocks, schedule.segments, counts.front())
                                 : Layout::irregular(counts, schedule.segments),
              1);
}

/// The name that a type has in NumPy. Throws Error(unsupported) for types that NumPy has not.
std::string dtype_name(Type type) {
  if (type > Type::boolean)
    throw Error(ErrorCode::unsupported, fmt::format("NumPy has no type for '{}'", to_string(type)));
  switch (type) {
    case Type::byte:
      return "uint8";
    case Type::float_long:
      return "longdouble";
    case Type::complex_long:
      return "clongdouble";
    default:
      return std::string(to_string(type));
  }
}

/// The outcome of an execution in this process.
struct Execution {
  std::string id{};
  std::string dtype{};  ///< the name of the type in NumPy
  local::Job job{};
  local::JobResult result{};
  std::string wrong{};
};

/// Refuses numbers of elements that are not those of the blocks of a collective.
void check_counts(const std::vector<Count>& counts, Collective collective, Rank p) {
  require(std::ranges::all_of(counts, [](Count count) { return count >= 0; }), "counts are not negative");
  const auto ranks = static_cast<std::size_t>(p);
  const bool fit =
      counts.size() == 1 || (is_irregular(collective) &&
                             (counts.size() == ranks || (is_exchange(collective) && counts.size() == ranks * ranks)));
  require(fit, "there is one count for all blocks, or one for each block of an irregular collective");
}

Execution executed(const Subject& subject, Rank p, std::vector<Count> counts, const std::string& type,
                   const std::string& op, Rank root, bool threads, LongCall& call) {
  Execution all;
  all.job.size = size_of(subject, p);
  all.job.root = root;
  const Chosen chosen = proven_of(subject, call.proof(0, 1));
  check_counts(counts, chosen.selection.collective, all.job.size);
  all.job.counts = std::move(counts);
  all.job.type = type_of(type);
  all.dtype = dtype_name(all.job.type);
  all.job.op = operator_of(op);
  check_root(root, all.job.size);
  const Selection& selection = chosen.selection;
  const std::string unmet = unmet_need(selection, all.job.size, traits_of(selection.collective, op));
  if (!unmet.empty()) throw Error(ErrorCode::unsupported, fmt::format("{} {}", selection.id(), unmet));
  all.id = selection.id();
  all.job.collective = selection.collective;
  all.job.fill = [element = all.job.type](Rank rank, std::span<std::byte> bytes) {
    oracle::fill(element, rank, bytes);
  };
  all.result = local::execute_all(all.job, selection, threads ? local::Mode::threads : local::Mode::single_thread);
  all.wrong = oracle::check(all.job, all.result, guarantees_of(*selection.algorithm, selection.params).same_bits);
  return all;
}

Execution execute(const Subject& subject, Rank p, const std::vector<Count>& counts, const std::string& type,
                  const std::string& op, Rank root, bool threads) {
  Execution all;
  run_long("execute", nullptr,
           [&](LongCall& call) { all = executed(subject, p, counts, type, op, root, threads, call); });
  return all;
}

/// The elements of each rank.
std::vector<py::array> arrays_of(const Execution& execution, const std::vector<std::vector<std::byte>>& ranks) {
  const py::dtype dtype(execution.dtype);
  std::vector<py::array> arrays;
  arrays.reserve(ranks.size());
  for (const std::vector<std::byte>& bytes : ranks)
    arrays.emplace_back(dtype, static_cast<py::ssize_t>(bytes.size() / extent_bytes(execution.job.type)), bytes.data());
  return arrays;
}

}  // namespace

void add_execution(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(PieceRow, area, first, count);
  PYBIND11_NUMPY_DTYPE(RunRow, dst, left, right);
  PYBIND11_NUMPY_DTYPE(PlanStepRow, kind, empty, tag, peer, first, length, first_run, run_count, waits_for);
  py::class_<Plan>(module, "_Plan", "A schedule bound to numbers of elements, for who executes it.")
      .def(py::init(&plan_of), py::arg("schedule"), py::arg("counts"),
           "Elements of each user block: one number for all, or one for each.")
      .def_property_readonly("steps", &steps_of, "A row for each step, with its pieces, runs and open predecessors.")
      .def_property_readonly(
          "pieces",
          [](const Plan& plan) {
            std::vector<PieceRow> rows;
            for (const Piece& piece : plan.pieces) rows.push_back(row_of(piece));
            return array_of(rows);
          },
          "Elements that messages consist of. Areas: 0 is sendbuf, 1 recvbuf, 2 scratch memory.")
      .def_property_readonly(
          "runs",
          [](const Plan& plan) {
            std::vector<RunRow> rows;
            for (const Run& run : plan.runs) rows.push_back({row_of(run.dst), row_of(run.left), row_of(run.right)});
            return array_of(rows);
          },
          "Elements that are combined or copied.")
      .def_property_readonly(
          "scratch", [](const Plan& plan) { return plan.scratch_bytes; }, "Elements of scratch memory.")
      .def(
          "successors",
          [](const Plan& plan, std::size_t step) {
            if (step >= plan.steps.size()) throw py::index_error("there is no such step");
            const auto after = plan.dependencies.successors(static_cast<StepIndex>(step));
            return std::vector<StepIndex>(after.begin(), after.end());
          },
          py::arg("step"), "The steps that wait for a step.");
  py::class_<Execution>(module, "Execution", "An execution in this process; true if its results are right.")
      .def_readonly("id", &Execution::id)
      .def_readonly("wrong", &Execution::wrong)
      .def_property_readonly("p", [](const Execution& e) { return e.job.size; })
      .def_property_readonly("time_s", [](const Execution& e) { return e.result.seconds; })
      .def_property_readonly("inputs", [](const Execution& e) { return arrays_of(e, e.result.inputs); })
      .def_property_readonly("outputs", [](const Execution& e) { return arrays_of(e, e.result.outputs); })
      .def("__bool__", [](const Execution& e) { return e.wrong.empty(); })
      .def("__repr__", [](const Execution& e) {
        return fmt::format("<Execution {}, p = {}: {}>", e.id, e.job.size, e.wrong.empty() ? "correct" : e.wrong);
      });
  module.def("execute", &execute, py::arg("what"), py::arg("p") = 0, py::arg("counts") = std::vector<Count>{1000},
             py::arg("type") = "float64", py::arg("op") = "sum", py::arg("root") = 0, py::arg("threads") = false,
             py::call_guard<py::gil_scoped_release>(),
             "Runs a collective in this process on test data, and compares the results with the definition.");
}

}  // namespace circoll::python
