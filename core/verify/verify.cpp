// The proof of a call's schedules, part by part.
#include "circoll/verify.hpp"

#include <algorithm>
#include <array>

#include "circoll/error.hpp"
#include "circoll/transform.hpp"
#include "schedule/matching.hpp"
#include "schedule/registry.hpp"
#include "symbolic/execution.hpp"
#include "verify/proof.hpp"

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

/// Throws Refuted at the first claim that does not hold. The watch sees the form up to 0.1 of the work, the order up to
/// 0.4, the execution up to 0.9, and then the results.
void prove(const Subject& subject, std::span<const Dependencies> given, Verdict& verdict) {
  check(!subject.ranks.empty(), "at least one rank is verified");
  check_structures(subject);
  const Matching matching = match(subject);
  const std::vector<Dependencies> dependencies = prove_order(subject, given);
  SymbolicExecution execution(subject.ranks, matching, dependencies, subject.at_least_once());
  execution.run(subject.between(0.4, 0.9));
  check_results(subject, execution);
  count(subject, dependencies, execution.levels(), verdict);
}

}  // namespace
}  // namespace verify

namespace {

Refutation refutation_of(const verify::Refuted& refuted, std::span<const Schedule> ranks, bool in_place) {
  const Schedule& s = ranks[static_cast<std::size_t>(std::max<Rank>(refuted.rank, 0))];
  return {.claim = refuted.claim,
          .id = s.id,
          .size = s.shape.size,
          .root = s.shape.root,
          .in_place = in_place,
          .params = s.shape.params,
          .rank = refuted.rank,
          .step = refuted.step,
          .block = refuted.block,
          .what = refuted.what};
}

}  // namespace

Verdict verify_schedules(std::span<const Schedule> ranks, const Claims& claims,
                         std::span<const Dependencies> dependencies, const ProofWatch& watch) {
  Verdict verdict;
  try {
    verify::prove({ranks, claims, &watch}, dependencies, verdict);
  } catch (const verify::Refuted& r) {
    const bool in_place = std::any_of(ranks.begin(), ranks.end(), [](const Schedule& s) { return s.shape.in_place; });
    verdict.refutation = refutation_of(r, ranks, in_place);
    verdict.refutation->size = static_cast<Rank>(ranks.size());
  }
  return verdict;
}

std::optional<Verdict> verify_rotations(const Schedule& schedule, Rotation rotation, const Claims& claims,
                                        const Dependencies* dependencies, const ProofWatch& watch) {
  require(rotation != Rotation::none && schedule.shape.rank == 0, "rank 0 is proven, of which others are rotations");
  Verdict verdict;
  try {
    if (!verify::prove_rotations(schedule, rotation, claims, dependencies, watch, verdict)) return std::nullopt;
  } catch (const verify::Refuted& r) {
    verdict.refutation = refutation_of(r, {&schedule, 1}, schedule.shape.in_place);
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

bool has_rotations(const Algorithm& algorithm, const Params& params) {
  return algorithm.rotation != Rotation::none && !params.contains(relabel.name);
}

Verdict verify_algorithm(const Algorithm& algorithm, Collective collective, const Shape& shape,
                         const OnArrival& on_arrival, ProofMethod method, const ProofWatch& watch) {
  constexpr double built = 0.2;  // the part of the proof that all schedules have been built in
  const auto not_buildable = [&](const std::string& what) {
    Verdict verdict;
    verdict.refutation = Refutation{.claim = Claim::buildable,
                                    .id = algorithm.id(collective),
                                    .size = shape.size,
                                    .root = shape.root,
                                    .in_place = shape.in_place,
                                    .params = shape.params,
                                    .what = what};
    return verdict;
  };
  const bool rotates = has_rotations(algorithm, shape.params) && !on_arrival;
  if (method == ProofMethod::rotation && !rotates) {
    return not_buildable("the schedules of its ranks are not rotations of one");
  }
  const bool by_one = rotates && method != ProofMethod::all_ranks;
  const auto claims = [&]() -> Claims {
    const Shape declared = labelled(collective, shape);
    Claims claims{.needs = needs_of(algorithm, collective, shape.params),
                  .guarantees = guarantees_of(algorithm, shape.params),
                  .cost = cost_of(algorithm, declared),
                  .path = critical_path(algorithm, collective, declared)};
    // Messages that are combined as they arrive wait for other ones, and so do those of a window.
    if (algorithm.on_ports != nullptr && !on_arrival && !shape.params.contains(window.name))
      claims.on_ports = [&algorithm, declared](std::int64_t ports) { return algorithm.on_ports(declared, ports); };
    return claims;
  };
  std::vector<Schedule> ranks;
  try {
    if (by_one) {
      Shape first = shape;
      first.rank = 0;
      ranks.push_back(build_schedule(algorithm, collective, first));
    } else {
      Shape own = shape;
      ranks.reserve(static_cast<std::size_t>(shape.size));
      for (own.rank = 0; own.rank < shape.size; ++own.rank) {
        ranks.push_back(build_schedule(algorithm, collective, own));
        if (watch) watch(built * static_cast<double>(own.rank) / static_cast<double>(shape.size));
      }
    }
    if (on_arrival) {
      for (Schedule& s : ranks) {
        s = combined_on_arrival(s, [&](Rank peer) { return on_arrival(s.shape.rank, peer); });
      }
    }
  } catch (const Error& error) {
    return not_buildable(error.what());
  }
  if (!by_one) {
    ProofWatch rest;
    if (watch) rest = [&](double part) { watch(built + (1 - built) * part); };
    return verify_schedules(ranks, claims(), {}, rest);
  }
  // A refutation names the same claim, but more of its place, if it is found among all ranks.
  constexpr Rank most_to_refute = 4096;
  const std::optional<Verdict> verdict = verify_rotations(ranks.front(), algorithm.rotation, claims(), nullptr, watch);
  if (verdict && (verdict->proven() || method == ProofMethod::rotation || shape.size > most_to_refute)) return *verdict;
  if (method == ProofMethod::rotation) {
    throw Error(ErrorCode::unsupported, algorithm.id(collective) + ": one rank does not tell what all others do");
  }
  return verify_algorithm(algorithm, collective, shape, on_arrival, ProofMethod::all_ranks, watch);
}

}  // namespace circoll
