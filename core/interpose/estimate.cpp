#include "interpose/estimate.hpp"

#include <algorithm>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"

namespace circoll::interpose {

Estimator::Estimator(const Machine& machine, Library library, bool memory, bool crowded)
    : options_{.machine = machine},
      machines_(memory ? machines_inside(machine, crowded) : std::vector<MachineForLength>{{.machine = machine}}),
      library_(library) {
  model_ = make_policy("model", options_);
  if (library == Library::openmpi) fixed_ = make_policy("openmpi_fixed", options_);
}

std::optional<NativeEstimate> Estimator::estimate(Collective collective, Rank p, Count vector_bytes) const {
  const CallFacts facts{.collective = collective, .p = p, .bytes = vector_bytes};
  if (fixed_ != nullptr && collective == Collective::allreduce) {
    const Decision decision = fixed_->decide(facts);
    if (!decision.selection) return std::nullopt;
    return NativeEstimate{std::string(decision.selection->algorithm->name),
                          seconds(terms_of(*decision.selection, p, vector_bytes), options_.machine)};
  }
  for (const Candidate& candidate : model_->decide(facts).candidates) {  // the least time first
    const Algorithm& algorithm = *candidate.selection.algorithm;
    if (algorithm.names_in(library_, collective).empty()) continue;
    return NativeEstimate{std::string(algorithm.name), candidate.seconds};
  }
  return std::nullopt;
}

std::optional<NativeEstimate> Estimator::native(Collective collective, Rank p, Count bytes) {
  if (p < 1) return std::nullopt;
  const Count vector = Amounts::of_reported(collective, p, bytes).vector_bytes();
  const auto [known, fresh] = known_.try_emplace({collective, p, vector});
  if (fresh) known->second = estimate(collective, p, vector);
  return known->second;
}

std::optional<double> Estimator::served(Collective collective, Rank p, Count bytes,
                                        const std::string& algorithm) const {
  if (p < 1) return std::nullopt;
  try {
    const Count vector = Amounts::of_reported(collective, p, bytes).vector_bytes();
    return seconds(terms_of(parse_selection(collective, algorithm), p, vector), machines_);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace circoll::interpose
