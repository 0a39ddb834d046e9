// Failures of ranks: what the survivors of a collective hold of its data, at any point of its schedules.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/schedule.hpp"
#include "repair/failures.hpp"

namespace circoll {

/// The state after some ranks have failed.
struct FailureOutcome {
  FailureClass what = FailureClass::unknown;  ///< of all needed blocks together
  /// The fewest values that a block is put together from, in the block that takes most. All contributions count if
  /// they can be put together, else the survivors'. -1 if neither can, or if the search took too long.
  int pieces = -1;
  /// Survivors that hold data of a failed rank, alone or combined. The needed block that fewest hold counts. -1 if the
  /// failed ranks contribute to no block that is needed.
  int copies = -1;
  std::int64_t lost = 0;         ///< blocks in which no survivor holds the data of some failed rank
  std::int64_t contributed = 0;  ///< blocks with data of a failed rank
  std::int64_t needed = 0;       ///< blocks, or prefixes of blocks, that survivors get

  friend bool operator==(const FailureOutcome&, const FailureOutcome&) = default;
};

/// An order of delivery within a round: the messages of these failed ranks arrived.
struct Delivery {
  std::vector<Rank> arrived_from{};  ///< failed ranks that sent in the round
  FailureOutcome outcome{};          ///< if just these arrived
};

/// The analysis of failures in one call. It reads the schedules of all ranks.
///
/// A block is needed if a survivor's result has it. In reduce and gather, the result of a root that failed may go to
/// another rank. Operators are associative and commutative. Where the algorithm is for idempotent operators only,
/// unions need not be disjoint.
class FaultAnalysis {
 public:
  /// At most this many ranks.
  static constexpr Rank most_ranks = most_repaired_ranks;

  /// shape.rank is ignored. Throws Error: unsupported if the algorithm cannot serve p, or for more than most_ranks.
  FaultAnalysis(const Algorithm& algorithm, Collective collective, const Shape& shape, Keep keep,
                FailureBounds bounds = {});
  /// The schedules of ranks 0 .. p-1, which need not be of an algorithm. Throws Error(invalid_argument) if they do not
  /// fit together.
  FaultAnalysis(std::vector<Schedule> ranks, Keep keep, bool idempotent, FailureBounds bounds = {});

  [[nodiscard]] Rank size() const;             ///< p, with those that have failed
  [[nodiscard]] std::uint32_t rounds() const;  ///< of the undisturbed collective
  [[nodiscard]] Block blocks() const;          ///< user blocks times segments

  /// Ranks fail when the messages of rounds 0 .. k-1 have arrived, k <= rounds(). Throws Error(invalid_argument) unless
  /// some, and not all, ranks fail, each named once.
  [[nodiscard]] FailureOutcome after(std::uint32_t k, std::span<const Rank> failed) const;

  /// Ranks fail in round k < rounds(). For every choice of their messages of this round to survivors: these arrive, and
  /// so do all others. Messages among survivors arrive in the end, whatever their order.
  [[nodiscard]] std::vector<Delivery> within(std::uint32_t k, std::span<const Rank> failed) const;

  /// The same as after(), but the survivors go on. They stop once they wait for a rank that has failed or waits itself.
  [[nodiscard]] FailureOutcome ahead(std::uint32_t k, std::span<const Rank> failed) const;

  /// A repair where after() tells what is left. All contributions are put together if they can be. Of values that only
  /// Keep::log has, those count that still lie in memory.
  [[nodiscard]] Repair repair_after(std::uint32_t k, std::span<const Rank> failed) const;
  /// A repair for survivors of which each has ended these steps, in whatever order they did. Of the failed ranks'
  /// steps nothing need be known. Throws Error(invalid_argument) if a survivor's step cannot have ended.
  [[nodiscard]] Repair repair(const Progress& progress, std::span<const Rank> failed) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

/// Closed forms about failures in an algorithm. A test compares with the analysis, at Keep::buf.
struct FaultForms {
  std::string_view id;              ///< "collective/name"
  std::string_view where{};         ///< the p for which they hold; empty: all
  bool (*holds)(Rank p) = nullptr;  ///< true for such p; nullptr: for all
  std::string_view lost{};          ///< FailureOutcome::lost if one rank fails after k rounds
  std::int64_t (*lost_blocks)(Rank p, std::int64_t k) = nullptr;
  std::string_view copies{};  ///< FailureOutcome::copies for the rank of which there are fewest
  std::int64_t (*fewest_copies)(Rank p, std::int64_t k) = nullptr;  ///< the same, computed; nullptr: no closed form
  std::string_view full{};  ///< the failures after which all contributions can be put together
  bool (*is_full)(Rank p, std::int64_t k, std::span<const Rank> failed) = nullptr;
};
/// All of them, by id.
[[nodiscard]] std::span<const FaultForms> fault_forms();
/// Those of an algorithm, or nullptr.
[[nodiscard]] const FaultForms* find_fault_forms(std::string_view id);

}  // namespace circoll
