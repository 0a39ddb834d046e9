// Repairs: schedules by which the survivors of a failure end a collective.
//
// core/wrappers/survive executes them. lab/faults analyses failures by the same types.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/model.hpp"
#include "circoll/schedule.hpp"

namespace circoll {

/// The values that a survivor can still use, from least to most. Each level has all of the one before.
enum class Keep : std::uint8_t {
  live,  ///< values that its schedule will read, and results
  /// The values of a vector that is computed in place, stale parts included. A value counts as replaced once it has
  /// been combined with another, and a block once its result has arrived.
  buf,
  keep,  ///< its own contribution, too: the send buffer, which no schedule writes
  log,   ///< every value that has arrived, and whatever else lies in its memory
};
[[nodiscard]] std::string_view to_string(Keep keep);  ///< "live", "buf", "keep", "log"

/// The class of a failure. A set of contributions can be put together in a block if it is a disjoint union of values
/// that survivors hold.
enum class FailureClass : std::uint8_t {
  none,     ///< some block can be put together neither way
  mix,      ///< every block can, but some with the contributions of the failed ranks and some without only
  surv,     ///< every block can from the survivors' contributions
  full,     ///< every block can from all contributions
  both,     ///< every block can from all contributions, and from the survivors'
  unknown,  ///< the search for a union took too long
};
[[nodiscard]] std::string_view to_string(FailureClass what);  ///< "NONE", "MIX", "SURV", "FULL", "BOTH", "unknown"
/// True if all contributions can be put together.
[[nodiscard]] inline bool is_full(FailureClass what) {
  return what == FailureClass::full || what == FailureClass::both;
}

/// Limits of the search for unions, in sets looked at per block.
struct FailureBounds {
  std::int64_t to_decide = 200'000;   ///< whether there is one
  std::int64_t to_minimize = 20'000;  ///< the least pieces
};

/// The steps of each rank that have ended.
using Progress = std::vector<std::vector<bool>>;

/// Failures are analysed, and repairs planned, for at most this many ranks: the bits of a word.
inline constexpr Rank most_repaired_ranks = 64;

/// Schedules by which survivors end a collective, from what lies in their memory.
///
/// Ranks keep their numbers, and failed ones have no steps. Buffers are those of the schedules before, with one more
/// scratch buffer at most behind them. Nothing else of their scratch memory is written, and no send buffer is.
struct Repair {
  /// The results that survivors end with: full, from all contributions; surv, from the survivors'. Else none.
  FailureClass goal = FailureClass::none;
  std::string why{};              ///< the reason if the goal is none
  std::vector<Schedule> ranks{};  ///< proven; empty if the goal is none
  Guarantees guarantees{};        ///< of the results, as of an algorithm
  int pieces = 0;                 ///< the most that a block is put together from
  std::int64_t missing = 0;       ///< blocks that are left as they are, as they were contributed by failed ranks only
  Cost cost{};                    ///< the most of a rank
  CriticalPath path{};            ///< counted in `ranks`
};
/// A repair for survivors of which each has ended some steps, in whatever order they did. Steps that are `torn` have
/// begun, and may have written a part. Of the failed ranks' steps nothing need be known. All values count that lie in
/// memory. Throws Error(invalid_argument) if the schedules do not fit together, or a survivor's step cannot have ended.
[[nodiscard]] Repair plan_repair(std::vector<Schedule> ranks, bool idempotent, const Progress& ended,
                                 const Progress& torn, std::span<const Rank> failed, const FailureBounds& bounds = {});
/// The terms of the time of a repair, for a vector of `bytes` (terms_of in model.hpp).
[[nodiscard]] Terms terms_of(const Repair& repair, Count bytes);

}  // namespace circoll
