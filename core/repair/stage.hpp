// A point of a symbolic execution, with the values that every rank holds there, and the results that survivors need.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "repair/cover.hpp"
#include "repair/failures.hpp"
#include "symbolic/execution.hpp"

namespace circoll::repair {

/// The schedules of all ranks, and how their steps depend on one another.
struct LinkedSchedules {
  explicit LinkedSchedules(std::vector<Schedule> schedules, bool at_least_once);
  LinkedSchedules(const LinkedSchedules&) = delete;
  LinkedSchedules& operator=(const LinkedSchedules&) = delete;

  [[nodiscard]] Rank size() const { return static_cast<Rank>(ranks.size()); }
  [[nodiscard]] const Schedule& of(Rank rank) const { return ranks[static_cast<std::size_t>(rank)]; }

  std::vector<Schedule> ranks;
  Matching matching;
  std::vector<Dependencies> dependencies;
  bool idempotent;
};

/// A value as a set of contributions, and the ranks that hold it, one bit for each.
struct HeldValue {
  Set set = 0;
  std::uint64_t holders = 0;
};

/// A slot of a rank.
struct SlotOfRank {
  Rank rank = 0;
  std::int32_t buffer = 0;
  Slot slot = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a defaulted comparison for a pointer
  friend auto operator<=>(const SlotOfRank&, const SlotOfRank&) = default;
};

/// A value in a rank's memory.
struct Placed {
  Set set = 0;
  SlotOfRank place{};
};

/// The history of values at all ranks.
class History final : public symbolic::Observer {
 public:
  History(const LinkedSchedules& program, Keep keep);
  void arrived(Rank rank, std::int32_t buffer, Block block, symbolic::Value value) override;
  void copied(Rank rank, std::int32_t buffer, Block block, symbolic::Value value) override;
  void combined(Rank rank, symbolic::Value left, symbolic::Value right) override;

  [[nodiscard]] bool is_combined(Rank rank, symbolic::Value value) const {
    const auto& combined = combined_[static_cast<std::size_t>(rank)];
    return value < combined.size() && combined[value];
  }
  /// The result of a block that has arrived; `undefined` before.
  [[nodiscard]] symbolic::Value result(Rank rank, Block block) const {
    return results_[static_cast<std::size_t>(rank * blocks_ + block)];
  }
  /// All values that have arrived, with their blocks; kept for Keep::log only.
  [[nodiscard]] std::span<const std::pair<Block, symbolic::Value>> log(Rank rank) const {
    return log_[static_cast<std::size_t>(rank)];
  }

 private:
  Block blocks_;
  bool keeps_log_;
  std::vector<std::vector<bool>> combined_;
  std::vector<symbolic::Value> results_;
  std::vector<std::vector<std::pair<Block, symbolic::Value>>> log_;
};

/// A point of the execution. A copy goes on by itself.
class Stage {
 public:
  Stage(const LinkedSchedules& program, Keep keep);
  Stage(const Stage& other);
  Stage& operator=(const Stage&) = delete;

  /// Runs the messages of rounds before k, and everything local that waits for no others. Messages that are `lost`,
  /// by the step that sends them, do not arrive.
  void run_to(std::uint32_t k, std::span<const StepOfRank> lost = {});
  /// Goes on without some ranks until everybody waits for them.
  void run_without(std::uint64_t failed);

  /// Repeats an execution of which these steps have ended. Nothing is known of the steps of `failed` ranks.
  ///
  /// Throws Error(invalid_argument) if a survivor's step cannot have ended.
  void repeat(const Progress& progress, std::uint64_t failed);
  /// Forgets the values that these steps may have written over in part.
  void tear(const Progress& torn, std::uint64_t failed);

  /// The values that the ranks hold of every block.
  [[nodiscard]] std::vector<std::vector<HeldValue>> held() const;
  /// The values of every block that lie in the memory of ranks.
  [[nodiscard]] std::vector<std::vector<Placed>> placed(std::uint64_t ranks) const;
  [[nodiscard]] const symbolic::SymbolicExecution& execution() const { return execution_; }

 private:
  /// Calls f(place, block, value) for each value in a rank's memory that the rank can still use.
  template <typename F>
  void each_usable(Rank rank, F&& f) const;
  [[nodiscard]] Set set_of(symbolic::Value value, Block block, std::span<const Set> sets) const;

  const LinkedSchedules* program_;
  Keep keep_;
  symbolic::SymbolicExecution execution_;
  History history_;
};

[[nodiscard]] inline Set bit(Rank rank) { return Set{1} << static_cast<unsigned>(rank); }
/// The ranks below one.
[[nodiscard]] inline Set below(Rank rank) { return rank >= 64 ? ~Set{0} : bit(rank) - 1; }

/// Contributions that belong together in a block, and the ranks that need them.
struct Goal {
  Block block = 0;
  Set all = 0;
  std::uint64_t users = 0;
};

/// The goals of a collective without failures.
///
/// If a root alone gets the result, every rank counts as a user: it may go to another rank if the root fails.
[[nodiscard]] std::vector<Goal> goals_of(const LinkedSchedules& program);

/// The slot of a rank's result of a block; buffer -1 if it gets none.
[[nodiscard]] SlotOfRank output_of(const Schedule& schedule, Block block);

/// True if a root alone gets the result.
[[nodiscard]] bool is_movable(Collective collective);

}  // namespace circoll::repair
