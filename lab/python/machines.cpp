// The cost model in Python: machines, and networks of the simulator.
#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "measured/file_kind.hpp"
#include "python/bindings.hpp"
#include "sim/sim.hpp"

namespace circoll::python {
namespace {

/// Sets the attributes of a new object by keyword, so that a misspelt one is an error.
template <class Object>
Object with_attributes(Object object, const py::kwargs& attributes) {
  py::object made = py::cast(&object, py::return_value_policy::reference);
  for (const auto& [name, value] : attributes) {
    if (!py::hasattr(made, name))
      throw py::type_error(fmt::format("there is no attribute '{}'", py::cast<std::string>(name)));
    made.attr(name) = value;
  }
  return object;
}

}  // namespace

void add_machines(py::module_& module) {
  py::class_<Machine>(module, "Machine", "The machine of the cost model. Times are in seconds.")
      .def(py::init([](const py::kwargs& attributes) { return with_attributes(default_machine(), attributes); }),
           "The default machine, but for the attributes given.")
      .def_readwrite("name", &Machine::name)
      .def_readwrite("alpha_s", &Machine::alpha_s)
      .def_readwrite("beta_s_per_byte", &Machine::beta_s_per_byte)
      .def_readwrite("gamma_s_per_byte", &Machine::gamma_s_per_byte)
      .def_readwrite("f_alpha", &Machine::f_alpha)
      .def_readwrite("f_beta", &Machine::f_beta)
      .def_readwrite("overhead_s", &Machine::overhead_s)
      .def_readwrite("overhead_both_s", &Machine::overhead_both_s)
      .def_readwrite("ports", &Machine::ports)
      .def_readwrite("node_alpha_s", &Machine::node_alpha_s)
      .def_readwrite("node_beta_s_per_byte", &Machine::node_beta_s_per_byte)
      .def_static(
          "read", [](const std::filesystem::path& path) { return measured::read_machine_file(path.string()); },
          py::arg("path"), "Reads a file of circoll calibrate.")
      .def("__repr__", [](const Machine& m) {
        return fmt::format("<Machine {}: alpha {:.4g} us, beta {:.4g} ns/B, gamma {:.4g} ns/B>", m.name,
                           m.alpha_s * 1e6, m.beta_s_per_byte * 1e9, m.gamma_s_per_byte * 1e9);
      });

  py::class_<sim::LogGops>(module, "LogGops", "The prices of one message in the simulator. Times are in seconds.")
      .def(py::init([](const py::kwargs& attributes) { return with_attributes(sim::LogGops{}, attributes); }))
      .def_readwrite("latency_s", &sim::LogGops::latency_s)
      .def_readwrite("overhead_s", &sim::LogGops::overhead_s)
      .def_readwrite("gap_s", &sim::LogGops::gap_s)
      .def_readwrite("gap_s_per_byte", &sim::LogGops::gap_s_per_byte)
      .def_readwrite("overhead_s_per_byte", &sim::LogGops::overhead_s_per_byte)
      .def_readwrite("rendezvous_from_bytes", &sim::LogGops::rendezvous_from_bytes)
      .def_readwrite("first_byte_free", &sim::LogGops::first_byte_free)
      .def_readwrite("exchange_factor", &sim::LogGops::exchange_factor)
      .def_readwrite("exchange_from_bytes", &sim::LogGops::exchange_from_bytes);

  py::class_<sim::Network>(module, "Network", "The cluster of the simulator.")
      .def(py::init([](const std::optional<Machine>& machine, Rank cores, const py::kwargs& attributes) {
             return with_attributes(sim::network_of(machine_or_default(machine), cores), attributes);
           }),
           py::arg("machine") = py::none(), py::arg("cores") = 1,
           "The network that a machine means, but for the attributes given.")
      .def_readwrite("between", &sim::Network::between)
      .def_readwrite("inside", &sim::Network::inside)
      .def_readwrite("group", &sim::Network::group)
      .def_readwrite("cores", &sim::Network::cores)
      .def_readwrite("group_nodes", &sim::Network::group_nodes)
      .def_readwrite("ports", &sim::Network::ports)
      .def_readwrite("gamma_s_per_byte", &sim::Network::gamma_s_per_byte)
      .def_readwrite("shared", &sim::Network::shared);
}

}  // namespace circoll::python
