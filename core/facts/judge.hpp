// The judge of two kinds of runs that take turns: faster, slower, the same, or not decided.
//
// All commands that say which of two times is longer use it. docs/experiments/verdicts.md shows how often it errs.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "facts/statistics.hpp"

namespace circoll {

/// Two runs, one after the other. A coin has decided which was first.
struct RunPair {
  double without_s = 0;       ///< the time of the run without the change
  double with_s = 0;          ///< the time of the run with the change
  double others_without = 0;  ///< the share of the processors that other processes took during that run
  double others_with = 0;     ///< the same of the run with the change
};

/// An answer to the question which of two times is longer.
enum class Change {
  undecided,  ///< these runs do not show it
  faster,     ///< with the change
  slower,     ///< with the change
  same,       ///< the difference is within JudgeOptions::same_within for sure
  missing,    ///< one side has no times
};
[[nodiscard]] std::string_view to_string(Change change);  ///< "not decided", "faster", "slower", "same", "-"

struct JudgeOptions {
  double may_err = 0.002;     ///< the chance of "faster" or "slower" for equal times, half for each, in all looks
  double same_within = 0.03;  ///< times that differ by at most this share are the same
};

struct Judgement {
  Change change = Change::undecided;
  double ratio = 1;  ///< the time without over the time with: above 1 is faster
  ConfidenceInterval
      interval{};       ///< of `ratio`, with the confidence that the answer has; {0, infinity} if nothing is known
  int pairs = 0;        ///< that count
  int disagreeing = 0;  ///< of these, that lie on the other side of 1 than `ratio`
  int disturbed = 0;    ///< pairs that do not count
  int more_pairs = 0;   ///< that would perhaps decide; 0: it is decided
};

/// The logarithm of the ratio of a pair's times.
[[nodiscard]] double log_ratio(const RunPair& pair);

/// Judges pairs whose number was set before, in one look.
[[nodiscard]] Judgement judge(std::span<const RunPair> pairs, const JudgeOptions& options = {});

/// The same for many rows, of which each has its pairs. The chance that any row is called faster or slower without
/// being so is `may_err` (the correction of Holm).
[[nodiscard]] std::vector<Judgement> judge_rows(const std::vector<std::vector<RunPair>>& rows,
                                                const JudgeOptions& options = {});

/// Judges pairs as they come, until one look decides. Each look spends a part of the chance to err, so that looking
/// often does not err more often.
class Judge {
 public:
  explicit Judge(const JudgeOptions& options = {}) : options_(options) {}

  /// Adds a pair, and looks if it is time.
  void add(const RunPair& pair);
  /// Looks for the last time, because no more pairs follow.
  void finish();
  [[nodiscard]] bool decided() const { return verdict_.change != Change::undecided; }
  /// By the last look. Before the first one it has the ratio and the pairs only.
  [[nodiscard]] const Judgement& verdict() const { return verdict_; }
  [[nodiscard]] const std::vector<RunPair>& pairs() const { return pairs_; }

 private:
  void look(double share);

  JudgeOptions options_;
  std::vector<RunPair> pairs_;
  Judgement verdict_;
  std::size_t quick_looks_ = 0, looks_ = 0;  ///< looks are those by ranks
  double left_ = 1;                          ///< of the chance to err
};

}  // namespace circoll
