// Algorithms in Python: what they declare, their costs and schedules, rankings, and the choices of policies.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "circoll/verify.hpp"
#include "measured/file_kind.hpp"
#include "python/bindings.hpp"

namespace circoll::python {
namespace {

/// The algorithm with the parameters of least predicted time.
Selection completed_for(const Chosen& chosen, Rank p, Count bytes, const Machine& machine, Rank root) {
  return with_best_segments(with_segment_count(chosen.selection, p, bytes), p, bytes, machine, root);
}

Terms terms_for(const Chosen& chosen, Rank p, Count bytes, const std::optional<Machine>& machine, Rank root) {
  chosen.require_serves(p);
  check_root(root, p);
  require(bytes >= 0, "bytes are not negative");
  const Machine on = machine_or_default(machine);
  return terms_of(completed_for(chosen, p, bytes, on, root), p, bytes, root, on.ports);
}

Decision explain(const std::string& name, Rank p, Count bytes, const std::string& op, const std::string& type,
                 Rank cores, Rank nodes, bool crowded, const std::string& policy,
                 const std::optional<Machine>& machine) {
  const Collective collective = collective_of(name);
  require(p >= 1 && cores >= 1 && nodes >= 0 && bytes >= 0, "p and cores are positive, nodes and bytes not negative");
  CallFacts facts = facts_of(collective, p, bytes, operator_of(op), type_of(type));
  facts.cores = cores;
  facts.nodes = nodes;
  facts.node_by_node = nodes == 0 || nodes == (p + cores - 1) / cores;
  facts.crowded = crowded;
  measured::require_rules(policy);
  return make_policy(policy, {.machine = machine_or_default(machine)})->decide(facts);
}

void add_algorithm(py::module_& module) {
  py::class_<Chosen>(module, "Algorithm", "An algorithm of a collective, with its parameters.")
      .def_property_readonly("id", [](const Chosen& c) { return c.selection.id(); })
      .def_property_readonly("name", [](const Chosen& c) { return std::string(c.selection.algorithm->name); })
      .def_property_readonly("collective",
                             [](const Chosen& c) { return std::string(to_string(c.selection.collective)); })
      .def_property_readonly("params", [](const Chosen& c) { return c.selection.params; })
      .def_property_readonly("summary", [](const Chosen& c) { return std::string(c.selection.algorithm->summary); })
      .def_property_readonly("source", [](const Chosen& c) { return std::string(c.selection.algorithm->source); })
      .def_property_readonly("family",
                             [](const Chosen& c) { return std::string(to_string(c.selection.algorithm->family)); })
      .def_property_readonly("when", [](const Chosen& c) { return std::string(c.selection.algorithm->when); })
      .def_property_readonly(
          "needs",
          [](const Chosen& c) { return needs_of(*c.selection.algorithm, c.selection.collective, c.selection.params); })
      .def_property_readonly("guarantees",
                             [](const Chosen& c) { return guarantees_of(*c.selection.algorithm, c.selection.params); })
      .def_property_readonly(
          "formula", [](const Chosen& c) { return time_formula(*c.selection.algorithm, c.selection.collective); })
      .def_property_readonly(
          "declared_params",
          [](const Chosen& c) {
            std::map<std::string, std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string>> all;
            for (const ParamDeclaration& d : c.selection.algorithm->params)
              all[std::string(d.name)] = {d.minimum, d.maximum, d.fallback, std::string(d.summary)};
            return all;
          })
      .def(
          "unmet_need",
          [](const Chosen& c, Rank p, const std::string& op) {
            return unmet_need(c.selection, p, traits_of(c.selection.collective, op));
          },
          py::arg("p"), py::arg("op") = "sum", "Why it cannot serve p ranks with this operator; empty if it can.")
      .def(
          "cost",
          [](const Chosen& c, Rank p, Rank root, bool in_place) {
            c.require_serves(p);
            return c.selection.algorithm->cost(labelled(c.selection.collective, c.shape(p, 0, root, in_place)));
          },
          py::arg("p"), py::arg("root") = 0, py::arg("in_place") = false, "The declared cost.")
      .def("terms", &terms_for, py::arg("p"), py::arg("bytes"), py::arg("machine") = py::none(), py::arg("root") = 0,
           "The terms of the predicted time of a vector of so many bytes.")
      .def(
          "time_s",
          [](const Chosen& c, Rank p, Count bytes, const std::optional<Machine>& machine, Rank root) {
            return seconds(terms_for(c, p, bytes, machine, root), machine_or_default(machine));
          },
          py::arg("p"), py::arg("bytes"), py::arg("machine") = py::none(), py::arg("root") = 0, "The predicted time.")
      .def(
          "schedule",
          [](const Chosen& c, Rank p, Rank rank, Rank root, bool in_place) {
            return build_schedule(*c.selection.algorithm, c.selection.collective, c.shape(p, rank, root, in_place));
          },
          py::arg("p"), py::arg("rank"), py::arg("root") = 0, py::arg("in_place") = false,
          py::call_guard<py::gil_scoped_release>(), "The schedule of one rank.")
      .def(
          "schedules",
          [](const Chosen& c, Rank p, Rank root, bool in_place) {
            c.require_serves(p);
            return build_all_ranks(*c.selection.algorithm, c.selection.collective, c.shape(p, 0, root, in_place));
          },
          py::arg("p"), py::arg("root") = 0, py::arg("in_place") = false, py::call_guard<py::gil_scoped_release>(),
          "The schedules of all ranks.")
      .def(
          "__eq__", [](const Chosen& a, const Chosen& b) { return a == b; }, py::is_operator())
      .def("__hash__", [](const Chosen& c) { return py::hash(py::str(c.selection.id())); })
      .def("__str__",
           [](const Chosen& c) { return fmt::format("{}/{}", to_string(c.selection.collective), c.selection.text()); })
      .def("__repr__", [](const Chosen& c) {
        return fmt::format("<Algorithm {}/{}>", to_string(c.selection.collective), c.selection.text());
      });
}

}  // namespace

void add_algorithms(py::module_& module) {
  add_algorithm(module);
  module.def(
      "collectives",
      [] {
        std::vector<std::string> names;
        names.reserve(all_collectives.size());
        for (const Collective c : all_collectives) names.emplace_back(to_string(c));
        return names;
      },
      "The names of all collectives.");
  module.def(
      "algorithms",
      [](const std::string& name) {
        const Collective collective = collective_of(name);
        std::vector<Chosen> all;
        for (const Algorithm* a : algorithms_of(collective))
          all.push_back({.selection = {.algorithm = a, .collective = collective}});
        return all;
      },
      py::arg("collective"), "The algorithms of a collective, in the order of their names.");
  module.def(
      "algorithm",
      [](const Subject& subject) {
        Chosen chosen;
        run_long("algorithm", nullptr, [&](LongCall& call) { chosen = proven_of(subject, call.proof(0, 1)); });
        return chosen;
      },
      py::arg("what"), py::call_guard<py::gil_scoped_release>(),
      "The algorithm of an id, as in \"allreduce/ring\" or \"bcast/pipeline:segments=4\". Schedules of all ranks "
      "make an algorithm, too; Refuted is raised if they are wrong.");
  module.def(
      "rank",
      [](const std::string& name, Rank p, Count bytes, const std::string& op, const std::optional<Machine>& machine,
         Rank root) {
        const Collective collective = collective_of(name);
        require(p >= 1 && bytes >= 0, "p is positive, and bytes are not negative");
        check_root(root, p);
        return rank_algorithms(collective, p, bytes, traits_of(collective, op), machine_or_default(machine), root);
      },
      py::arg("collective"), py::arg("p"), py::arg("bytes"), py::arg("op") = "sum", py::arg("machine") = py::none(),
      py::arg("root") = 0, py::call_guard<py::gil_scoped_release>(),
      "All algorithms of a collective, those of least predicted time first, then those that cannot serve the call.");
  module.def("explain", &explain, py::arg("collective"), py::arg("p"), py::arg("bytes"), py::arg("op") = "sum",
             py::arg("type") = "float64", py::arg("cores") = 1, py::arg("nodes") = 0, py::arg("crowded") = false,
             py::arg("policy") = "model", py::arg("machine") = py::none(), py::call_guard<py::gil_scoped_release>(),
             "The choice of a policy for a call, and why.");
}

}  // namespace circoll::python
