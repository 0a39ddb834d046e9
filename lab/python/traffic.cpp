// Traffic in Python: the rounds of a collective on a network whose links messages share.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include "circoll/error.hpp"
#include "python/bindings.hpp"
#include "python/simulated.hpp"
#include "sim/contention.hpp"

namespace circoll::python {

Simulated simulated_of(const Subject& subject, Rank p, Count bytes, Rank root, const Machine& machine, int jobs) {
  const Rank size = size_of(subject, p);
  const std::optional<Chosen> chosen = chosen_of(subject);
  if (!chosen) {
    const auto& ranks = std::get<std::vector<Schedule>>(subject);
    require_proven(ranks);
    return {.id = ranks.front().id, .ranks = sim::Ranks(ranks)};
  }
  chosen->require_serves(size);
  check_root(root, size);
  const Selection complete =
      with_best_parameters(with_segment_count(chosen->selection, size, bytes), size, bytes, machine, root);
  std::string id = fmt::format("{}/{}", to_string(complete.collective), complete.text());
  return {.id = std::move(id), .ranks = sim::Ranks(complete, size, root, jobs, [](Rank generated) {
                                 return generated % 4096 != 0 || no_signal();
                               })};
}

namespace {

struct RoundRow {
  std::uint32_t round;
  Count messages;
  double bytes, longest, time_s, alone_s, combined_s, busiest_bytes;
  Count busiest_messages;
};

struct Traffic {
  std::string id{};
  Rank p = 0;
  Count bytes = 0;
  sim::Fabric fabric{};
  sim::Contention contention{};
};

Traffic traffic(const Subject& subject, const std::string& topology, Rank p, Count bytes, Rank root,
                const std::optional<Machine>& machine, Rank cores, int ports, const std::string& placement, int jobs) {
  require(bytes >= 0 && jobs >= 1 && cores >= 1, "bytes are not negative; jobs and cores are positive");
  Traffic result{.p = size_of(subject, p), .bytes = bytes};
  interruptible([&] {
    const Machine on = machine_or_default(machine);
    Simulated simulated = simulated_of(subject, p, bytes, root, on, jobs);
    result.id = simulated.id;
    result.fabric.topology = sim::read_topology(topology, sim::nodes_needed(result.p, cores));
    result.fabric.node_of =
        sim::place(sim::parse_placement(placement), result.p, cores, result.fabric.topology->nodes());
    result.fabric.ports = ports;
    result.contention = sim::contention(simulated.ranks, static_cast<double>(bytes), result.fabric, on,
                                        [rounds = 0](Count) mutable { return ++rounds % 1024 != 1 || no_signal(); });
  });
  return result;
}

py::array_t<RoundRow> rounds_of(const Traffic& traffic) {
  std::vector<RoundRow> rows;
  for (const sim::ContendedRound& r : traffic.contention.rounds)
    rows.push_back({r.round, r.messages, r.bytes, r.longest, r.time_s, r.alone_s, r.combined_s,
                    r.busiest ? r.busiest->bytes : 0, r.busiest ? r.busiest->messages : 0});
  return array_of(rows);
}

/// Bytes and messages by the name of their level.
std::map<std::string, std::pair<double, Count>> levels_of(const Traffic& traffic) {
  std::map<std::string, std::pair<double, Count>> all;
  for (const auto& [level, name] : {std::pair{sim::Level::node, "node"}, std::pair{sim::Level::group, "group"},
                                    std::pair{sim::Level::system, "system"}}) {
    const auto i = static_cast<std::size_t>(level);
    all[name] = {traffic.contention.bytes[i], traffic.contention.messages[i]};
  }
  return all;
}

}  // namespace

void add_traffic(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(RoundRow, round, messages, bytes, longest, time_s, alone_s, combined_s, busiest_bytes,
                       busiest_messages);
  py::class_<Traffic>(module, "Traffic", "The rounds of a collective on a network whose links are shared.")
      .def_readonly("id", &Traffic::id)
      .def_readonly("p", &Traffic::p)
      .def_readonly("bytes", &Traffic::bytes)
      .def_property_readonly("topology", [](const Traffic& t) { return t.fabric.topology->text(); })
      .def_property_readonly("time_s", [](const Traffic& t) { return t.contention.time_s; })
      .def_property_readonly(
          "alone_s", [](const Traffic& t) { return t.contention.alone_s; },
          "The time if each message had all links to itself.")
      .def_property_readonly("hops", [](const Traffic& t) { return t.contention.hops; })
      .def_property_readonly("levels", &levels_of, "Bytes and messages inside nodes, in groups, and beyond.")
      .def_property_readonly("rounds", &rounds_of, "A row for each round.")
      .def_property_readonly(
          "busiest",
          [](const Traffic& t) {
            std::vector<std::string> names;
            for (const sim::ContendedRound& r : t.contention.rounds)
              names.push_back(r.busiest ? sim::link_name(t.fabric, r.busiest->link) : "");
            return names;
          },
          "The name of each round's busiest link.")
      .def("__repr__", [](const Traffic& t) {
        return fmt::format("<Traffic {}, p = {}, on {}: {:.4g} us>", t.id, t.p, t.fabric.topology->text(),
                           t.contention.time_s * 1e6);
      });
  module.def("traffic", &traffic, py::arg("what"), py::arg("topology"), py::arg("p") = 0,
             py::arg("bytes") = Count{1024}, py::arg("root") = 0, py::arg("machine") = py::none(), py::arg("cores") = 1,
             py::arg("ports") = 1, py::arg("placement") = "consecutive", py::arg("jobs") = 1,
             py::call_guard<py::gil_scoped_release>(),
             "Reads a collective round by round on a network, as circoll simulate --topology does.");
}

}  // namespace circoll::python
