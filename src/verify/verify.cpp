// The proof of a call's schedules, part by part.
#include "circoll/verify.hpp"

#include <algorithm>
#include <array>

#include "circoll/error.hpp"
#include "circoll/transform.hpp"
#include "schedule/matching.hpp"
#include "symbolic/execution.hpp"
#include "verify/counting.hpp"
#include "verify/order.hpp"
#include "verify/results.hpp"
#include "verify/structure.hpp"

namespace circoll {

std::string_view to_string(Claim claim) {
  static constexpr std::array<std::string_view, 15> names{
      "structure",    "buildable", "matching",   "no_deadlock", "no_race", "defined", "right_block", "send_untouched",
      "exactly_once", "result",    "rank_order", "same_bits",   "rounds",  "cost",    "direct"};
  return names[static_cast<std::size_t>(claim)];
}

std::string Refutation::to_string() const {
  std::string text = id;
  for (const auto& [key, value] : params) text += " " + key + "=" + std::to_string(value);
  text += " p=" + std::to_string(size) + " root=" + std::to_string(root);
  if (in_place) text += " in place";
  if (rank >= 0) text += " rank=" + std::to_string(rank);
  if (step >= 0) text += " step=" + std::to_string(step);
  if (block >= 0) text += " block=" + std::to_string(block);
  return text + ": " + std::string(circoll::to_string(claim)) + ": " + what;
}

namespace verify {
namespace {

Matching match(const Subject& subject) {
  try {
    return Matching(subject.ranks);
  } catch (const Unmatched& end) {
    throw Refuted{Claim::matching, end.rank, end.step, end.block, end.what};
  }
}

/// Throws Refuted at the first claim that does not hold.
void prove(const Subject& subject, std::span<const Dependencies> given, Verdict& verdict) {
  check(!subject.ranks.empty(), "at least one rank is verified");
  check_structures(subject);
  const Matching matching = match(subject);
  const std::vector<Dependencies> dependencies = prove_order(subject, given);
  Execution execution(subject.ranks, matching, dependencies, subject.at_least_once());
  execution.run();
  Results(subject, execution).check();
  count(subject, execution.levels(), verdict);
}

}  // namespace
}  // namespace verify

Verdict verify_schedules(std::span<const Schedule> ranks, const Claims& claims,
                         std::span<const Dependencies> dependencies) {
  Verdict verdict;
  try {
    verify::prove({ranks, claims}, dependencies, verdict);
  } catch (const verify::Refuted& r) {
    const Schedule& s = ranks[static_cast<std::size_t>(std::max<Rank>(r.rank, 0))];
    verdict.refutation = Refutation{
        .claim = r.claim,
        .id = s.id,
        .size = static_cast<Rank>(ranks.size()),
        .root = s.shape.root,
        .in_place = std::any_of(ranks.begin(), ranks.end(), [](const Schedule& x) { return x.shape.in_place; }),
        .params = s.shape.params,
        .rank = r.rank,
        .step = r.step,
        .block = r.block,
        .what = r.what};
  }
  return verdict;
}

std::vector<Schedule> build_all_ranks(const Algorithm& algorithm, Collective collective, const Shape& shape) {
  std::vector<Schedule> ranks;
  ranks.reserve(static_cast<std::size_t>(shape.size));
  Shape own = shape;
  for (own.rank = 0; own.rank < shape.size; ++own.rank) ranks.push_back(build_schedule(algorithm, collective, own));
  return ranks;
}

Verdict verify_algorithm(const Algorithm& algorithm, Collective collective, const Shape& shape,
                         const OnArrival& on_arrival) {
  Verdict verdict;
  std::vector<Schedule> ranks;
  try {
    ranks = build_all_ranks(algorithm, collective, shape);
    if (on_arrival) {
      for (Schedule& s : ranks) {
        s = combined_on_arrival(s, [&](Rank peer) { return on_arrival(s.shape.rank, peer); });
      }
    }
  } catch (const Error& error) {
    verdict.refutation = Refutation{.claim = Claim::buildable,
                                    .id = algorithm.id(collective),
                                    .size = shape.size,
                                    .root = shape.root,
                                    .in_place = shape.in_place,
                                    .params = shape.params,
                                    .what = error.what()};
    return verdict;
  }
  const Shape declared = labelled(collective, shape);
  return verify_schedules(ranks, {.needs = needs_of(algorithm, collective, shape.params),
                                  .guarantees = guarantees_of(algorithm, shape.params),
                                  .cost = algorithm.cost(declared),
                                  .path = critical_path(algorithm, collective, declared)});
}

}  // namespace circoll
