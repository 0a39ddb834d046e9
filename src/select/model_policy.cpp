// model: the least predicted time over all algorithms whose needs hold, each with its best parameters.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "circoll/error.hpp"
#include "circoll/relabelling.hpp"
#include "core/text.hpp"
#include "select/policies.hpp"

namespace circoll::select {
namespace {

/// Blocks that a rank copies, as a share of the vector: the model has no term for them, but they break ties.
double copied_share(const Selection& selection, Rank p) {
  const Cost cost = selection.algorithm->cost({.size = p, .params = selection.params});
  const auto sent = static_cast<double>(std::max<std::int64_t>(cost.sent, 1));
  return static_cast<double>(cost.copied) / sent;
}

/// To six digits: sums of the same terms in another order are the same time.
double rounded(double seconds) {
  return seconds > 0 ? std::round(std::log(seconds) * 1e6) : -std::numeric_limits<double>::infinity();
}

/// Whether an algorithm is made for nodes of a certain size, and not for ranks that share no nodes or lie scattered on them.
bool is_for_nodes(const Algorithm& algorithm) { return algorithm.param("cores") != nullptr; }

/// An algorithm with the parameters of least predicted time, and that time: "segments" by its closed form, any other one
/// (a radix, a number of chains) among its default and a few small values. "cores" is what the machine is, not what an
/// algorithm may choose.
Candidate best_parameters(const Algorithm& algorithm, const CallFacts& facts, const Machine& machine) {
  Candidate best;
  const auto attempt = [&](Params params) {
    if (is_for_nodes(algorithm)) params.insert_or_assign("cores", facts.cores);
    Selection tried =
        with_best_segments(Selection{&algorithm, facts.collective, std::move(params)}, facts.p, facts.bytes, machine);
    const double time = seconds(terms_of(tried, facts.p, facts.bytes), machine);
    if (best.selection.algorithm == nullptr || time < best.seconds) best = {std::move(tried), time};
  };
  attempt({});
  for (const ParamDeclaration& param : algorithm.params) {
    if (param.name == "segments" || param.name == "cores") continue;
    for (const std::int64_t value : {2, 3, 4, 8}) {
      if (value < param.minimum || value > param.maximum || value == param.fallback || value >= facts.p) continue;
      attempt({{std::string(param.name), value}});
    }
  }
  return best;
}

/// Whether nodes and the network between them make a difference.
bool has_levels(const CallFacts& facts) { return facts.cores > 1 && facts.cores < facts.p; }

/// A lower bound of the time on nodes, however ranks are numbered, from the declared cost alone.
double least_seconds(const Selection& selection, const CallFacts& facts, Machine machine) {
  machine.alpha_s = std::min(machine.alpha_s, machine.within_alpha_s());
  machine.beta_s_per_byte = std::min(machine.beta_s_per_byte, machine.within_beta_s_per_byte());
  machine.f_alpha = 1;
  machine.f_beta = 1;
  return seconds(terms_of(selection, facts.p, facts.bytes), machine);
}

/// On nodes: the algorithms as they are, and relabelled (relabelling.hpp), by the traffic inside and between nodes. Those that
/// can not be better than the best, by their declared costs, keep that bound as their time.
std::vector<Candidate> on_nodes(const std::vector<Candidate>& flat, const CallFacts& facts,
                                const PolicyOptions& options, TrafficCache& traffic) {
  std::vector<Candidate> all;
  for (const Candidate& candidate : flat) {
    all.push_back({candidate.selection, least_seconds(candidate.selection, facts, options.machine)});
    Candidate across = all.back();
    across.selection.params.insert_or_assign("relabel", facts.cores);
    if (can_relabel(facts.collective) && !is_for_nodes(*candidate.selection.algorithm) &&
        why_not(across.selection, facts, options.allow_rank_divergence).empty()) {
      all.push_back(std::move(across));
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  double best = std::numeric_limits<double>::infinity();
  for (Candidate& candidate : all) {
    if (candidate.seconds > best) continue;
    candidate.seconds = std::max(candidate.seconds, seconds(*traffic.find(candidate.selection, facts.p, facts.cores),
                                                            facts.bytes, options.machine));
    best = std::min(best, candidate.seconds);
  }
  return all;
}

class Model final : public PolicyBase {
 public:
  using PolicyBase::PolicyBase;
  [[nodiscard]] Decision decide(const CallFacts& facts) const override {
    return decide_by_model(name(), facts, options(), traffic());
  }
};

}  // namespace

Decision decide_by_model(const std::string& policy, const CallFacts& facts, const PolicyOptions& options,
                         TrafficCache& traffic) {
  struct Ranked {
    Candidate candidate;
    double copied;
  };
  Decision decision{.selection = std::nullopt, .policy = policy, .reason = {}};
  std::vector<Candidate> candidates;
  for (const Algorithm* algorithm : algorithms_of(facts.collective)) {
    std::string why = why_not({algorithm, facts.collective, {}}, facts, options.allow_rank_divergence);
    // Where no rank knows the sizes of blocks between others, forwarding them costs another exchange beforehand.
    if (why.empty() && facts.collective == Collective::alltoallv && !algorithm->guarantees.direct) {
      why = "forwards blocks, whose sizes would have to be exchanged first";
    }
    if (why.empty() && is_for_nodes(*algorithm) && !(has_levels(facts) && facts.node_by_node)) {
      why = "is for ranks that are numbered node by node, several on each";
    }
    if (!why.empty()) {
      decision.ruled_out.push_back({algorithm->id(facts.collective), std::move(why)});
      continue;
    }
    candidates.push_back(best_parameters(*algorithm, facts, options.machine));
  }
  if (has_levels(facts)) candidates = on_nodes(candidates, facts, options, traffic);
  std::vector<Ranked> ranked;
  for (Candidate& candidate : candidates) {
    const double copied = copied_share(candidate.selection, facts.p);
    ranked.push_back({std::move(candidate), copied});
  }
  if (ranked.empty()) {
    decision.reason = "no algorithm of Circoll serves this call";
    return decision;
  }
  // Many algorithms are one and the same for two ranks, or for a power of two. Of those that tie, the one that copies
  // least, then a circulant one; stable: what remains is decided by the order of the paths, on every rank alike.
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    const auto key = [](const Ranked& r) {
      return std::tuple(rounded(r.candidate.seconds), r.copied,
                        !r.candidate.selection.algorithm->name.starts_with("circulant"));
    };
    return key(a) < key(b);
  });
  for (Ranked& one : ranked) decision.candidates.push_back(std::move(one.candidate));
  const Candidate& first = decision.candidates.front();
  decision.selection = first.selection;
  decision.reason = "least predicted time of " + std::to_string(decision.candidates.size()) + " on machine '" +
                    options.machine.name + "', " + readable_time(first.seconds);
  if (has_levels(facts)) decision.reason += " on nodes of " + std::to_string(facts.cores);
  if (has_unknown_size(facts.collective)) {
    decision.reason += " without bytes: the ranks do not all know the sizes, so that none may decide";
  }
  return decision;
}

std::unique_ptr<const Policy> make_model(std::string name, const PolicyOptions& options) {
  return std::make_unique<Model>(std::move(name), options);
}

}  // namespace circoll::select
