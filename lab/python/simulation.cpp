// The simulator in Python: runs, whose times are arrays over ranks.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "circoll/error.hpp"
#include "python/bindings.hpp"
#include "sim/programs.hpp"
#include "sim/sim.hpp"

namespace circoll::python {
namespace {

struct PlayedRow {
  Rank rank;
  StepIndex step;
  std::uint8_t kind;
  std::uint8_t wait;
  std::uint32_t round;
  double begin_s, end_s, slack_s;
  Rank sender, cause_rank;
  StepIndex cause_step;
};

/// A run with what it was a run of.
struct Simulation {
  std::string id{};
  Count bytes = 0;
  std::shared_ptr<const sim::Ranks> ranks{};
  sim::SimulatedRun run{};

  void require_steps() const { require(!run.first_step.empty(), "the steps are kept by record=True only"); }
};

std::uint32_t round_of(const sim::Ranks& ranks, Rank rank, StepIndex step) {
  return ranks.get().ranks[static_cast<std::size_t>(rank)].program->ops[step].round;
}

PlayedRow row_of(const Simulation& s, Rank rank, StepIndex step, const sim::PlayedStep& played, double slack_s) {
  return {rank,
          step,
          static_cast<std::uint8_t>(sim::kind_of(*s.ranks, rank, step)),
          static_cast<std::uint8_t>(played.wait),
          round_of(*s.ranks, rank, step),
          played.begin_s,
          played.end_s,
          slack_s,
          played.sender,
          played.cause_rank,
          played.cause_step};
}

std::vector<PlayedRow> steps_of(const Simulation& s) {
  s.require_steps();
  std::vector<PlayedRow> rows;
  rows.reserve(s.run.played.size());
  for (Rank rank = 0; rank < s.ranks->size(); ++rank) {
    const std::size_t first = s.run.first_step[static_cast<std::size_t>(rank)];
    const std::size_t last = s.run.first_step[static_cast<std::size_t>(rank) + 1];
    for (std::size_t i = first; i < last; ++i)
      rows.push_back(row_of(s, rank, static_cast<StepIndex>(i - first), s.run.played[i], s.run.slack_s[i]));
  }
  return rows;
}

std::vector<PlayedRow> path_of(const Simulation& s) {
  s.require_steps();
  std::vector<PlayedRow> rows;
  for (const sim::PathStep& one : sim::critical_path(s.run)) {
    const std::size_t at = s.run.first_step[static_cast<std::size_t>(one.rank)] + one.step;
    rows.push_back(row_of(s, one.rank, one.step, one.played, s.run.slack_s[at]));
  }
  return rows;
}

/// Events of a message in a run, as most networks have them, by which the progress is estimated.
constexpr double events_per_message = 2;

Simulation simulate(const Subject& subject, Rank p, Count bytes, Rank root, const std::optional<Machine>& machine,
                    const std::optional<sim::Network>& network, const std::string& skew, const std::string& noise,
                    std::uint64_t seed, std::vector<double> arrivals_s, const std::map<Rank, double>& slow, bool record,
                    int jobs, const py::object& progress) {
  require(bytes >= 0, "bytes are not negative");
  sim::Circumstances circumstances{.skew = sim::parse_spread(skew),
                                   .noise = sim::parse_spread(noise),
                                   .seed = seed,
                                   .arrivals_s = std::move(arrivals_s)};
  for (const auto& [rank, factor] : slow) circumstances.slow.push_back({rank, factor});
  Simulation result{.bytes = bytes};
  run_long("simulate", &progress, [&](LongCall& call) {
    Simulated simulated = simulated_of(subject, p, bytes, root, machine_or_default(machine), jobs, call);
    result.id = simulated.id;
    result.ranks = std::make_shared<const sim::Ranks>(std::move(simulated.ranks));
    const double expected = events_per_message * static_cast<double>(std::max<Count>(1, result.ranks->messages()));
    const sim::Network on = network ? *network : sim::network_of(machine_or_default(machine));
    result.run = sim::simulate(*result.ranks, static_cast<double>(bytes), on, circumstances,
                               {.record = record, .go_on = [&](std::int64_t events) {
                                  call.at(0.5 + 0.5 * std::min(1.0, static_cast<double>(events) / expected));
                                  return true;
                                }});
  });
  return result;
}

}  // namespace

void add_simulation(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(PlayedRow, rank, step, kind, wait, round, begin_s, end_s, slack_s, sender, cause_rank,
                       cause_step);
  const auto shown = [](const std::vector<double> sim::SimulatedRun::*times) {
    return [times](const py::object& self) { return view_of(self.cast<const Simulation&>().run.*times, self); };
  };
  py::class_<Simulation>(module, "Simulation", "One run of the simulator. Times are in seconds.")
      .def_readonly("id", &Simulation::id)
      .def_readonly("bytes", &Simulation::bytes)
      .def_property_readonly("p", [](const Simulation& s) { return s.ranks->size(); })
      .def_property_readonly("time_s", [](const Simulation& s) { return s.run.time_s; })
      .def_property_readonly("last_rank", [](const Simulation& s) { return s.run.last_rank; })
      .def_property_readonly("events", [](const Simulation& s) { return s.run.events; })
      .def_property_readonly("messages", [](const Simulation& s) { return s.ranks->messages(); })
      .def_property_readonly("begin_s", shown(&sim::SimulatedRun::begin_s), "When each rank begins.")
      .def_property_readonly("end_s", shown(&sim::SimulatedRun::end_s), "When each rank ends.")
      .def_property_readonly(
          "arrival_slack_s",
          [](const Simulation& s) {
            s.require_steps();
            return array_of(s.run.arrival_slack_s);
          },
          "By how much each rank may begin later.")
      .def_property_readonly(
          "idle_s",
          [](const Simulation& s) {
            s.require_steps();
            return array_of(unlocked([&] { return sim::idle_times(*s.ranks, s.run); }));
          },
          "The idle time of each rank.")
      .def_property_readonly(
          "steps", [](const Simulation& s) { return array_of(unlocked([&] { return steps_of(s); })); },
          "Every step as it was played.")
      .def_property_readonly(
          "critical_path", [](const Simulation& s) { return array_of(unlocked([&] { return path_of(s); })); },
          "The steps that made the last rank end when it did.")
      .def("__repr__", [](const Simulation& s) {
        return fmt::format("<Simulation {}, p = {}, {} bytes: {:.4g} us>", s.id, s.ranks->size(), s.bytes,
                           s.run.time_s * 1e6);
      });
  module.def("simulate", &simulate, py::arg("what"), py::arg("p") = 0, py::arg("bytes") = Count{1024},
             py::arg("root") = 0, py::arg("machine") = py::none(), py::arg("network") = py::none(),
             py::arg("skew") = "none", py::arg("noise") = "none", py::arg("seed") = 1,
             py::arg("arrivals_s") = std::vector<double>{}, py::arg("slow") = std::map<Rank, double>{},
             py::arg("record") = false, py::arg("jobs") = 0, py::arg("progress") = false,
             py::call_guard<py::gil_scoped_release>(), "Plays a collective event by event on a described machine.");
}

}  // namespace circoll::python
