// Neutral rules as MPICH's tree can say them, and the sentences about the rest.
#include "foreign/mpich_writer.hpp"

#include <algorithm>
#include <limits>

#include "circoll/collectives.hpp"
#include "foreign/cells.hpp"

namespace circoll::foreign::mpich {
namespace {

constexpr Count most_bound = std::numeric_limits<std::int32_t>::max();  // atoi
constexpr Range everything{0, unbounded};

bool from_one(const Range& range) { return range.from <= 1; }
bool without_end(const Range& range) { return range.to >= most_bound; }
bool all_of(const Range& range) { return from_one(range) && without_end(range); }

std::string named(const Rule& rule) {
  const std::string what = std::string(circoll::to_string(rule.collective)) + ": " + rule.algorithm;
  return rule.from.empty() ? what : rule.from + " (" + what + ")";
}

class Sayer {
 public:
  explicit Sayer(Version version) : version_(version) {}

  ExpressibleRules say(std::span<const Rule> rules) {
    for (const Rule& rule : rules) add(rule);
    return std::move(result_);
  }

 private:
  void lose(const std::string& text) { add_loss(result_.losses, text); }

  void add(const Rule& given) {
    Expressible expressible{.rule = given};
    Rule& rule = expressible.rule;
    std::string why = algorithm(expressible);
    const std::string where = widen(rule);
    if (why.empty()) why = where;
    if (why == "dropped") return;
    if (!why.empty()) {
      expressible.by_variable = expressible.leaves && by_variable(given, *expressible.leaves);
      expressible.leaves.reset();
      if (!expressible.by_variable && !given.algorithm.empty())
        lose(named(given) + " is left out, and the library decides: " + why + ".");
    }
    if (expressible.leaves) parameters(given, *expressible.leaves);
    if (expressible.leaves && !expressible.leaves->nonblocking.empty())
      lose(named(given) + " is an algorithm of MPI_I" + std::string(circoll::to_string(rule.collective)) +
           ", which the same calls of that function get, too.");
    if (expressible.leaves) guards(given, expressible.needs);
    result_.rules.push_back(std::move(expressible));
  }

  /// The reason why the algorithm has no leaf; empty if it has one, or is the library's choice.
  std::string algorithm(Expressible& expressible) const {
    const Rule& rule = expressible.rule;
    if (rule.algorithm.empty()) return "";
    expressible.leaves = leaves_of(rule.collective, rule.algorithm, version_);
    if (!expressible.leaves) return "MPICH " + std::string(to_string(version_)) + " has no such algorithm";
    const Leaves& leaves = *expressible.leaves;
    const std::string& last = leaves.nonblocking.empty() ? leaves.blocking : leaves.nonblocking;
    expressible.needs = needs_of(last);
    if (leaves.nonblocking.empty() && rule.collective == Collective::alltoallv && expressible.needs.in_place)
      return "it serves calls in place only";
    if (!leaves.nonblocking.empty() && rule.collective == Collective::reduce_scatter_block && !all_of(rule.bytes))
      return "sizes of ireduce_scatter_block are counted in elements";
    return unsettable(last, version_);
  }

  /// Widens a rule to calls that the tree cannot tell from its own, and says what it cannot tell apart.
  std::string widen(Rule& rule) {
    std::string why;
    const std::string name(circoll::to_string(rule.collective));
    const auto cannot = [&](const std::string& text) {
      if (why.empty()) why = text;
    };
    if (!from_one(rule.nodes) || !without_end(rule.nodes)) {
      const bool one = from_one(rule.nodes) && rule.nodes.to == 1;
      const bool several = rule.nodes.from == 2 && without_end(rule.nodes);
      if (!one && !several) {
        cannot("the tree tells one node from several, and no other numbers of nodes");
        rule.nodes = {1};
      }
    }
    if (rule.ranks_per_node.to > 1 && !all_of(rule.ranks_per_node))
      lose(
          "Ranks per node are tested as the average over nodes: where nodes have unlike numbers of ranks, rules with "
          "bounds of ranks per node may hold for other calls.");
    if (rule.operators != Operators::any && !tells_operators(rule.collective)) {
      if (is_reducing(rule.collective)) cannot("the tree does not test operators of " + name);
      rule.operators = Operators::any;
    }
    if (!size_test(rule.collective)) {
      if (rule.bytes.from > 0 || rule.bytes.to < unbounded)
        cannot("the tree has no test of sizes that is right for " + name);
      rule.bytes = everything;
      return why;
    }
    if (rule.bytes.from > most_bound) {
      lose(named(rule) + " is left out: the tree has no bounds above 2147483647 bytes.");
      return "dropped";
    }
    if (rule.bytes.to > most_bound && rule.bytes.to < unbounded)
      lose(named(rule) + " has no upper end: the tree has no bounds above 2147483647 bytes.");
    if (rule.bytes.to >= most_bound) rule.bytes.to = unbounded;
    return why;
  }

  /// Says a rule for all calls by control variables. They have checks of their own, which trees have not.
  bool by_variable(const Rule& rule, const Leaves& leaves) {
    const bool first = std::ranges::none_of(
        result_.rules, [&](const Expressible& other) { return other.rule.collective == rule.collective; });
    const bool all = from_one(rule.nodes) && without_end(rule.nodes) && all_of(rule.ranks_per_node) &&
                     rule.ranks.from <= 2 && without_end(rule.ranks) && all_of(rule.bytes) &&
                     rule.operators == Operators::any;
    const bool through = !leaves.nonblocking.empty();
    if (!first || !all || unsettable(through ? leaves.nonblocking : leaves.blocking, version_).empty()) return false;
    const std::string upper = variable_part(rule.collective);
    result_.settings.push_back("export MPIR_CVAR_" + upper + "_INTRA_ALGORITHM=" + (through ? "nb" : rule.algorithm));
    if (through) result_.settings.push_back("export MPIR_CVAR_I" + upper + "_INTRA_ALGORITHM=" + rule.algorithm);
    lose(named(rule) +
         " stands in control variables, which are before the file: a leaf cannot give it its parameters.");
    return true;
  }

  void parameters(const Rule& rule, const Leaves& leaves) {
    const auto known = parameters_of(leaves.nonblocking.empty() ? leaves.blocking : leaves.nonblocking, version_);
    const auto has = [&](std::string_view name) {
      return std::ranges::any_of(known, [&](const Parameter& p) { return p.name == name; });
    };
    if (rule.segment_bytes > 0 && !has("chunk_size"))
      lose(named(rule) + " is not cut into segments of " + std::to_string(rule.segment_bytes) + " bytes.");
    if (rule.segment_bytes > most_bound) lose(named(rule) + " is cut into segments of at most 2147483647 bytes.");
    if (rule.radix > 0 && !has("k"))
      lose(named(rule) + " does not take a radix of " + std::to_string(rule.radix) + ".");
  }

  void guards(const Rule& rule, const Needs& needs) {
    std::string calls;
    const auto but = [&](bool needed, std::string_view text) {
      if (needed) calls += (calls.empty() ? "" : ", ") + std::string(text);
    };
    but(needs.built_in, "MPI's own operators");
    but(needs.commutative && !needs.built_in && rule.operators != Operators::commutative, "operators that commute");
    but(needs.power_of_two, "powers of two of ranks");
    but(needs.count_for_each, "an element or more for each rank of the largest power of two");
    but(needs.regular, "blocks of one size");
    but(needs.not_in_place, "calls that are not in place");
    but(needs.in_place, "calls in place");
    but(needs.hierarchy, "several ranks on some node");
    but(needs.consecutive, "ranks in the order of nodes");
    if (!calls.empty()) lose(named(rule) + " is guarded, and holds for " + calls + " only.");
  }

  Version version_;
  ExpressibleRules result_{};
};

}  // namespace

ExpressibleRules expressible(std::span<const Rule> rules, Version version) { return Sayer(version).say(rules); }

std::optional<Test> size_test(Collective collective) {
  switch (collective) {
    case Collective::allreduce:
    case Collective::bcast:
    case Collective::reduce:
      return Test::average_le;
    case Collective::alltoall:
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return Test::total_le;
    default:
      return std::nullopt;
  }
}

bool tells_operators(Collective collective) { return is_defined(Test::commutative, circoll::to_string(collective)); }

bool holds(const Rule& rule, const Call& call) {
  const bool per_node = (rule.ranks_per_node.to >= most_bound || call.ranks <= rule.ranks_per_node.to * call.nodes) &&
                        (from_one(rule.ranks_per_node) || call.ranks > (rule.ranks_per_node.from - 1) * call.nodes);
  const bool several = call.nodes > 1 || call.ranks == 1;
  const bool nodes = several ? rule.nodes.to > 1 : from_one(rule.nodes);
  return rule.collective == call.collective && rule.ranks.holds(call.ranks) && nodes && per_node &&
         (!size_test(rule.collective) || rule.bytes.holds(call.bytes)) &&
         (rule.operators == Operators::any || (rule.operators == Operators::commutative) == call.commutative);
}

Tree leaf_tree(const std::string& full_name, const Rule& rule, Version version) {
  Tree tree = leaf("algorithm=" + full_name);
  for (const Parameter& parameter : parameters_of(full_name, version)) {
    std::string value(parameter.usual);
    if (parameter.name == "tree_type") value = knomial_tree(version);
    if (parameter.name == "k" && rule.radix > 0) value = std::to_string(std::min<Count>(rule.radix, most_bound));
    if (parameter.name == "chunk_size" && rule.segment_bytes > 0)
      value = std::to_string(std::min(rule.segment_bytes, most_bound));
    tree.members.push_back(leaf(std::string(parameter.name) + "=" + value));
  }
  return tree;
}

}  // namespace circoll::foreign::mpich
