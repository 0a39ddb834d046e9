// The parts of a proof: the schedules under it, their form, their order, their results and their costs.
//
// Each part is one source file of this room; verify.cpp puts them together. A claim that does not hold throws Refuted.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/dependencies.hpp"
#include "circoll/schedule.hpp"
#include "circoll/verify.hpp"
#include "schedule/rotation.hpp"
#include "symbolic/execution.hpp"
#include "symbolic/expressions.hpp"

namespace circoll::verify {

using symbolic::Refuted;
using symbolic::SymbolicExecution;

/// The schedules of all ranks of one call. The objects that it refers to must outlive it.
struct Subject {
  std::span<const Schedule> ranks;
  const Claims& claims;
  const ProofWatch* watch = nullptr;

  /// Tells the watch, if there is one, that a part of the proof is done.
  void done(double part) const {
    if (watch != nullptr && *watch) (*watch)(part);
  }
  /// The watch of what is done between two parts; empty if there is none.
  [[nodiscard]] ProofWatch between(double from, double to) const {
    if (watch == nullptr || !*watch) return {};
    return [this, from, to](double part) { done(from + (to - from) * part); };
  }
  [[nodiscard]] Rank size() const { return static_cast<Rank>(ranks.size()); }
  [[nodiscard]] const Schedule& of(Rank rank) const { return ranks[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Collective collective() const { return ranks[0].collective; }
  /// Each rank contributes to every block: reductions, and the barrier, which is one of no bytes.
  [[nodiscard]] bool by_rank() const { return symbolic::contributes_to_all(collective()); }
  /// Contributions must be combined in the order of ranks.
  [[nodiscard]] bool ordered() const { return claims.guarantees.rank_order || !claims.needs.commutative; }
  [[nodiscard]] bool at_least_once() const { return claims.needs.idempotent || collective() == Collective::barrier; }
};

/// Proves that the schedules are parts of one collective, with the caller's buffers as MPI defines them. None of them
/// writes what it must not, and a direct one passes no block on. Throws Refuted.
void check_structures(const Subject& subject);

/// Proves the form of one rank's schedule. Operands, blocks and peers are within bounds, the caller's buffers those of
/// the collective, and none is written that must not be. Throws Refuted.
void check_structure_of(const Schedule& s, const Claims& claims);

/// The latest round whose message each step of one rank waits for; -1: none.
[[nodiscard]] std::vector<std::int64_t> latest_rounds(const Schedule& s, const Dependencies& d);

/// Proves for one rank that there is one message each way per round. None waits for another of its own round or a later
/// one. Throws Refuted.
void check_rounds(const Schedule& s, const Dependencies& d);

/// Two steps of one rank that may run in either order although they must not.
struct Race {
  StepIndex earlier;
  StepIndex later;
  std::int32_t buffer;
  Slot slot;
};

/// Finds a pair of steps that race. They touch the same slot (or different views of one storage), one of them writing,
/// with no path between them in `dependencies`.
[[nodiscard]] std::optional<Race> find_race(const Schedule& schedule, const Dependencies& dependencies);

/// Proves what must hold of one rank before a step runs: rounds, and no two unordered steps that share memory. Throws
/// Refuted.
void prove_order_of(const Schedule& schedule, const Dependencies& dependencies);
/// The same for all ranks. Returns their dependencies, which it derives if none are given.
[[nodiscard]] std::vector<Dependencies> prove_order(const Subject& subject, std::span<const Dependencies> given);

/// Proves of the results of an execution that each rank has the blocks that the collective gives it. These are the
/// block that was sent, or all contributions, exactly once, in the order and with the bits that are claimed. Throws
/// Refuted.
void check_results(const Subject& subject, SymbolicExecution& execution);

/// The most of each count that a rank has, and the rounds of all.
[[nodiscard]] Cost count_cost(std::span<const Schedule> ranks);

/// Counts rounds, blocks, messages and the critical path into a verdict, and compares them with what is
/// claimed. `levels` (CriticalPath) are those of its execution. Throws Refuted.
void count(const Subject& subject, std::span<const Dependencies> dependencies, std::int64_t levels, Verdict& verdict);

/// The critical path, counted from the schedules of all ranks. Local steps after the last round count as one more
/// round. O(steps + rounds).
[[nodiscard]] CriticalPath count_path(std::span<const Schedule> ranks);

/// The rounds of ranks that have several ports, counted likewise. O(steps + dependencies).
[[nodiscard]] RoundsOnPorts count_on_ports(std::span<const Schedule> ranks, std::span<const Dependencies> dependencies,
                                           std::int64_t ports);

/// Proves of the schedule of rank 0 and its rotations what is claimed, and counts it into a verdict. False if one rank
/// does not tell. `given` replaces the derived dependencies if it is one. Throws Refuted.
[[nodiscard]] bool prove_rotations(const Schedule& schedule, Rotation rotation, const Claims& claims,
                                   const Dependencies* given, const ProofWatch& watch, Verdict& verdict);

}  // namespace circoll::verify
