// Algorithms in Python: what they declare, their costs and schedules, rankings, and the choices of policies.
#include <fmt/format.h>
#include <pybind11/operators.h>
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
  return terms_of(completed_for(chosen, p, bytes, machine_or_default(machine), root), p, bytes, root);
}

Decision explain(const std::string& name, Rank p, Count bytes, const std::string& op, const std::string& type,
                 Rank cores, Rank nodes, bool crowded, const std::string& policy,
                 const std::optional<Machine>& machine) {
  const Collective collective = collective_of(name);
  const auto known_op = op_from_string(op);
  const auto known_type = type_from_string(type);
  if (!known_op) throw Error(ErrorCode::unknown_name, fmt::format("there is no operator '{}'", op));
  if (!known_type) throw Error(ErrorCode::unknown_name, fmt::format("there is no type '{}'", type));
  require(p >= 1 && cores >= 1 && nodes >= 0 && bytes >= 0, "p and cores are positive, nodes and bytes not negative");
  CallFacts facts = facts_of(collective, p, bytes, *known_op, *known_type);
  facts.cores = cores;
  facts.nodes = nodes;
  facts.node_by_node = nodes == 0 || nodes == (p + cores - 1) / cores;
  facts.crowded = crowded;
  measured::require_rules(policy);
  return make_policy(policy, {.machine = machine_or_default(machine)})->decide(facts);
}

void add_declarations(py::module_& module) {
  py::class_<Needs>(module, "Needs", "Conditions under which an algorithm is correct.")
      .def_readonly("commutative", &Needs::commutative)
      .def_readonly("idempotent", &Needs::idempotent)
      .def_readonly("power_of_two", &Needs::power_of_two)
      .def_readonly("even_size", &Needs::even_size)
      .def_readonly("min_size", &Needs::min_size)
      .def_readonly("only_size", &Needs::only_size);
  py::class_<Guarantees>(module, "Guarantees", "Properties beyond the collective's definition, which are proven.")
      .def_readonly("same_bits", &Guarantees::same_bits)
      .def_readonly("rank_order", &Guarantees::rank_order)
      .def_readonly("direct", &Guarantees::direct);
  py::class_<Cost>(module, "Cost", "The most of any rank: rounds, and blocks sent, received, reduced and copied.")
      .def_readonly("rounds", &Cost::rounds)
      .def_readonly("sent", &Cost::sent)
      .def_readonly("received", &Cost::received)
      .def_readonly("reduced", &Cost::reduced)
      .def_readonly("copied", &Cost::copied)
      .def(py::self == py::self)
      .def("__repr__", [](const Cost& c) {
        return fmt::format("Cost(rounds={}, sent={}, received={}, reduced={}, copied={})", c.rounds, c.sent, c.received,
                           c.reduced, c.copied);
      });
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
            check_root(root, p);
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
      .def("__str__",
           [](const Chosen& c) { return fmt::format("{}/{}", to_string(c.selection.collective), c.selection.text()); })
      .def("__repr__", [](const Chosen& c) {
        return fmt::format("<Algorithm {}/{}>", to_string(c.selection.collective), c.selection.text());
      });
}

void add_choices(py::module_& module) {
  py::class_<Ranked>(module, "Ranked", "An algorithm in a ranking, with its best parameters.")
      .def_property_readonly("algorithm", [](const Ranked& r) { return Chosen{.selection = r.selection}; })
      .def_property_readonly("id", [](const Ranked& r) { return r.selection.id(); })
      .def_readonly("terms", &Ranked::terms)
      .def_readonly("time_s", &Ranked::time_s)
      .def_readonly("unmet_need", &Ranked::unmet_need)
      .def("__repr__", [](const Ranked& r) {
        return r.unmet_need.empty() ? fmt::format("<Ranked {}: {:.4g} us>", r.selection.id(), r.time_s * 1e6)
                                    : fmt::format("<Ranked {}: {}>", r.selection.id(), r.unmet_need);
      });
  py::class_<Decision>(module, "Decision", "The choice of a policy, and its reason.")
      .def_property_readonly("algorithm",
                             [](const Decision& d) {
                               return d.selection ? std::optional(Chosen{.selection = *d.selection}) : std::nullopt;
                             })
      .def_readonly("policy", &Decision::policy)
      .def_readonly("reason", &Decision::reason)
      .def_property_readonly("ruled_out",
                             [](const Decision& d) {
                               std::map<std::string, std::string> all;
                               for (const RuledOut& out : d.ruled_out) all[out.id] = out.why;
                               return all;
                             })
      .def_property_readonly("predicted_s",
                             [](const Decision& d) {
                               std::vector<std::pair<Chosen, double>> all;
                               for (const Candidate& one : d.candidates)
                                 all.emplace_back(Chosen{.selection = one.selection}, one.seconds);
                               return all;
                             })
      .def("__repr__", [](const Decision& d) {
        return fmt::format("<Decision {}: {}>", d.selection ? d.selection->id() : "native", d.reason);
      });
}

}  // namespace

void add_algorithms(py::module_& module) {
  add_declarations(module);
  add_algorithm(module);
  add_choices(module);
  module.def(
      "collectives",
      [] {
        std::vector<std::string> names;
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
      "algorithm", &proven_of, py::arg("what"), py::call_guard<py::gil_scoped_release>(),
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
