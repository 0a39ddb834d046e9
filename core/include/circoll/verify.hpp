// Proofs show, before any message is sent, that the schedules of all ranks do what their algorithm declares. They hold
// for given p, root and parameters; a refutation names rank, step and block.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/dependencies.hpp"

namespace circoll {

/// The claims that can be refuted.
enum class Claim : std::uint8_t {
  structure,       ///< operands, slots and peers are within bounds; scratch is large enough
  buildable,       ///< the algorithm writes a schedule without an error
  matching,        ///< every send meets one receive of the same blocks, in the same round
  no_deadlock,     ///< all steps can end even if every send blocks until it is received
  no_race,         ///< steps that touch the same slot, one of them writing, are ordered
  defined,         ///< no step reads a slot that holds nothing
  right_block,     ///< every value stays in slots of its own block
  send_untouched,  ///< the send buffer is never written
  exactly_once,    ///< each contribution is in each result once (at least once for idempotent operators)
  result,          ///< every result slot holds the value that the collective defines
  rank_order,      ///< contributions are combined in the order of ranks
  same_bits,       ///< all ranks compute a result by the same expression, up to commutativity
  rounds,          ///< one message each way per round, which depends on none of the same round
  cost,            ///< declared cost and critical path = counted ones
  direct,          ///< no rank touches a block between two others
};
[[nodiscard]] std::string_view to_string(Claim claim);  ///< the name of the enumerator

/// The smallest evidence found against an algorithm.
struct Refutation {
  Claim claim = Claim::structure;  ///< what does not hold
  std::string id;                  ///< "collective/name", or the name of the schedules given
  Rank size = 0;                   ///< p
  Rank root = 0;                   ///< of the instance
  bool in_place = false;           ///< of the instance
  Params params{};                 ///< of the instance
  Rank rank = -1;                  ///< -1: no single rank
  std::int64_t step = -1;          ///< -1: no single step
  Block block = -1;                ///< -1: no single block
  std::string what;                ///< one sentence

  /// All of it in one line.
  [[nodiscard]] std::string to_string() const;
};

/// A claim about a set of schedules.
struct Claims {
  Needs needs{};                       ///< under which it is to hold
  Guarantees guarantees{};             ///< that are to hold
  std::optional<Cost> cost{};          ///< compared if present
  std::optional<CriticalPath> path{};  ///< compared if present
  /// Compared for 1 to 4 ports if present.
  std::function<RoundsOnPorts(std::int64_t ports)> on_ports{};
};

/// The outcome for one p, root and parameters.
struct Verdict {
  std::optional<Refutation> refutation{};  ///< nothing: it is proven
  Cost counted{};                          ///< maximum over ranks
  CriticalPath path{};                     ///< counted
  std::int64_t messages = 0;               ///< over all ranks
  std::int64_t reductions = 0;             ///< blocks combined, over all ranks
  bool by_rotation = false;                ///< only rank 0 was executed, of which all others are rotations

  [[nodiscard]] bool proven() const { return !refutation.has_value(); }  ///< true if nothing was refuted
};

/// Called often during a proof, by its thread, with the part that is done, from 0 to 1. A proof that finds more of a
/// refutation begins again from 0. The exceptions that the function throws end the proof and reach the caller.
using ProofWatch = std::function<void(double part)>;

/// Executes the schedules of all ranks symbolically and checks every claim. `ranks[i]` is the schedule of
/// rank i. `dependencies`, if given, replaces the derived ones, one entry per rank (for testing the
/// verifier). Memory O(slots + steps of all ranks). Throws Error(unsupported) if the vector has more than
/// 2^31 contributions.
[[nodiscard]] Verdict verify_schedules(std::span<const Schedule> ranks, const Claims& claims,
                                       std::span<const Dependencies> dependencies = {}, const ProofWatch& watch = {});

/// Does the same for rank 0's schedule and its rotations. One rank is executed, on values that are counted from it
/// (docs/developer/proof.md). Returns nothing if one rank cannot tell. That is so where the order of ranks is claimed,
/// or where ranks combine a result differently that must have the same bits. O(steps + runs of blocks) where neighbours
/// are combined with neighbours. Elsewhere it computes sets of ranks. Throws Error(unsupported) if these are too large
/// (2^28 entries).
[[nodiscard]] std::optional<Verdict> verify_rotations(const Schedule& schedule, Rotation rotation, const Claims& claims,
                                                      const Dependencies* dependencies = nullptr,
                                                      const ProofWatch& watch = {});

/// The ranks of which a proof executes the schedules.
enum class ProofMethod : std::uint8_t {
  automatic,  ///< one rank if all others are its rotations, else all; refutations are found once more among all
  all_ranks,
  rotation,  ///< one rank; not buildable if the others are not its rotations
};

/// True if a rank combines what comes from a peer as it arrives (transform.hpp).
using OnArrival = std::function<bool(Rank rank, Rank peer)>;

/// Builds the schedules of an instance and verifies them. shape.rank is ignored. With `on_arrival` they are transformed
/// first (combined_on_arrival), and all ranks are executed. Throws Error(unsupported) if there are too many ranks.
[[nodiscard]] Verdict verify_algorithm(const Algorithm& algorithm, Collective collective, const Shape& shape,
                                       const OnArrival& on_arrival = {}, ProofMethod method = ProofMethod::automatic,
                                       const ProofWatch& watch = {});

/// True if the schedules of an instance are rotations of rank 0's, by the way in which they are built.
[[nodiscard]] bool has_rotations(const Algorithm& algorithm, const Params& params);

/// The schedules of all ranks of one instance. shape.rank is ignored.
[[nodiscard]] std::vector<Schedule> build_all_ranks(const Algorithm& algorithm, Collective collective,
                                                    const Shape& shape);

/// A family of instances.
struct VerifyRange {
  Rank first = 1;  ///< smallest p
  Rank last = 64;  ///< largest p
  /// The p that are verified, in ascending order. Empty: all.
  std::vector<Rank> only{};
  /// Roots of rooted collectives: empty means a sample (0, 1, p/2, p-1).
  bool all_roots = false;
  std::vector<Rank> roots{};  ///< used unless all_roots; those of at least p are left out
  /// Values for the parameter "segments" where it is declared. Empty means a sample: 1, 2, 3, q = ceil(log2 p) and q +
  /// 2. The sample is smaller for p > 64 where every rank has a block of its own. Up to p = 64 each other parameter
  /// that a selection does not give is sampled, too: its default, 2, 3 and 7.
  std::vector<std::int64_t> segments{};
  /// The vector, for selections with "segment" (with_segment_count); without it they are refuted as not buildable.
  std::optional<Count> bytes{};
  /// In-place calls are verified as instances of their own up to this p.
  Rank last_in_place = 256;
  /// Verifies schedules that combined_on_arrival has transformed, for all peers of all ranks, in place of those that
  /// are built. A rank that combines some of the messages only waits for less.
  bool on_arrival = false;
  /// With `rotation`, algorithms whose ranks are not rotations of one are left out.
  ProofMethod method = ProofMethod::automatic;
  int jobs = 1;  ///< threads
  /// Called now and then with the number of instances done and in total, from one thread at a time.
  std::function<void(std::int64_t done, std::int64_t total)> progress{};
  /// Called during the proof of each instance with the part of that, by all threads at the same time. An exception that
  /// it throws reaches the caller, when the threads have ended: it must throw in each of them.
  ProofWatch watch{};
};

/// The outcome for one algorithm over a family.
struct RangeVerdict {
  std::string id;                          ///< "collective/name"
  std::int64_t instances = 0;              ///< proven
  std::int64_t by_rotation = 0;            ///< of which by the execution of one rank
  std::optional<Refutation> refutation{};  ///< of the smallest p that fails
  double seconds = 0;                      ///< of processor time
};

/// Verifies algorithms over a family of instances, in place and not. Where one algorithm serves a regular and an
/// irregular collective, one proof counts for both, because their schedules are the same (see Builder). Instances of
/// larger p are skipped once a smaller one is refuted. An algorithm that needs a power of two is verified for powers of
/// two, and so on. If nothing in the family fits, `instances` stays 0.
[[nodiscard]] std::vector<RangeVerdict> verify_range(const std::vector<Selection>& selections,
                                                     const VerifyRange& range);

}  // namespace circoll
