// Traffic in Python: the rounds of a collective on a network whose links messages share.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "circoll/error.hpp"
#include "python/bindings.hpp"
#include "sim/contention.hpp"

namespace circoll::python {
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
                const std::optional<Machine>& machine, Rank cores, std::optional<std::int64_t> ports,
                const std::string& placement, int jobs, const py::object& progress) {
  require(bytes >= 0 && cores >= 1, "bytes are not negative, and cores are positive");
  Traffic result{.p = size_of(subject, p), .bytes = bytes};
  run_long("traffic", &progress, [&](LongCall& call) {
    Machine on = machine_or_default(machine);
    result.fabric.ports = static_cast<int>(ports.value_or(on.ports));
    on.ports = cores > 1 ? 1 : result.fabric.ports;  // ranks of a node share its ports, which no price knows
    Simulated simulated = simulated_of(subject, p, bytes, root, on, jobs, call);
    result.id = simulated.id;
    result.fabric.topology = sim::read_topology(topology, sim::nodes_needed(result.p, cores));
    result.fabric.node_of =
        sim::place(sim::parse_placement(placement), result.p, cores, result.fabric.topology->nodes());
    const auto messages = static_cast<double>(std::max<Count>(1, simulated.ranks.messages()));
    result.contention =
        sim::contention(simulated.ranks, static_cast<double>(bytes), result.fabric, on, [&](Count read) {
          call.at(0.5 + 0.5 * static_cast<double>(read) / messages);
          return true;
        });
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

py::object python_of(const Traffic& t) {
  std::vector<std::string> busiest;
  for (const sim::ContendedRound& r : t.contention.rounds)
    busiest.push_back(r.busiest ? sim::link_name(t.fabric, r.busiest->link) : "");
  return plain("Traffic", t.id, t.p, t.bytes, t.fabric.topology->text(), t.contention.time_s, t.contention.alone_s,
               t.contention.hops, levels_of(t), rounds_of(t), busiest);
}

}  // namespace
}  // namespace circoll::python

template <>
struct pybind11::detail::type_caster<circoll::python::Traffic>
    : circoll::python::ResultCaster<circoll::python::Traffic> {};

namespace circoll::python {

void add_traffic(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(RoundRow, round, messages, bytes, longest, time_s, alone_s, combined_s, busiest_bytes,
                       busiest_messages);
  module.def("traffic", &traffic, py::arg("what"), py::arg("topology"), py::arg("p") = 0,
             py::arg("bytes") = Count{1024}, py::arg("root") = 0, py::arg("machine") = py::none(), py::arg("cores") = 1,
             py::arg("ports") = py::none(), py::arg("placement") = "consecutive", py::arg("jobs") = 0,
             py::arg("progress") = false, py::call_guard<py::gil_scoped_release>(),
             "Reads a collective round by round on a network, as circoll simulate --topology does.");
}

}  // namespace circoll::python
