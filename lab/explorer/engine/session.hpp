// A session holds the schedules of all ranks of one collective, and plays them round by round.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/dependencies.hpp"
#include "circoll/verify.hpp"
#include "schedule/matching.hpp"
#include "symbolic/execution.hpp"

namespace circoll::explorer {

/// The way in which a session's schedules came here.
struct Origin {
  std::optional<Selection> selection{};  ///< of an algorithm; nothing: a damaged or a pasted schedule, or a repair
  Shape shape{};
  Claims claims{};  ///< of what is not an algorithm's
};

/// The schedules of all ranks, and a symbolic execution of them that stands between two rounds.
class Session {
 public:
  Session(std::vector<Schedule> ranks, Origin origin, std::vector<Dependencies> dependencies = {});
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const std::vector<Schedule>& ranks() const { return ranks_; }
  [[nodiscard]] const Schedule& of(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Schedule& first() const { return ranks_.front(); }
  [[nodiscard]] Rank size() const { return static_cast<Rank>(ranks_.size()); }
  [[nodiscard]] std::uint32_t rounds() const { return first().rounds; }
  [[nodiscard]] const Origin& origin() const { return origin_; }
  [[nodiscard]] const Dependencies& dependencies(Rank rank) const {
    return dependencies_[static_cast<std::size_t>(rank)];
  }
  /// The other end of a message; rank -1 if it has none.
  [[nodiscard]] StepOfRank other_end(StepOfRank end) const;

  /// Plays the messages of rounds before k, and everything local that waits for no others. Going back plays anew from
  /// the beginning, round by round, so that a value keeps its number.
  void play_to(std::uint32_t k);
  /// The execution, where play_to has left it; nullptr if messages do not match, so that nothing can be executed.
  [[nodiscard]] symbolic::SymbolicExecution* execution() { return execution_.get(); }
  /// The thing that stopped the execution, if something did.
  [[nodiscard]] const std::optional<symbolic::Refuted>& stopped() const { return stopped_; }
  /// True the first time that a value is asked for.
  [[nodiscard]] bool is_new(symbolic::Value value);

  /// The proof of these schedules, made when it is asked for first.
  [[nodiscard]] const Verdict& verdict();

 private:
  void restart();

  std::vector<Schedule> ranks_;
  Origin origin_;
  std::vector<Dependencies> given_;  // instead of derived ones
  std::vector<Dependencies> dependencies_;
  std::optional<Matching> matching_;
  std::unique_ptr<symbolic::SymbolicExecution> execution_;
  std::int64_t played_ = -1;  // the messages of rounds before it
  std::optional<symbolic::Refuted> stopped_;
  std::optional<symbolic::Refuted> unmatched_;
  std::vector<bool> told_;  // by value
  std::optional<Verdict> verdict_;
};

}  // namespace circoll::explorer
