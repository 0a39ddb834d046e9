// Launches of circoll-bench, and the progress of many of them.
//
// Results are kept so that an interrupted tuning goes on where it was.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launcher.hpp"
#include "measured/measurement.hpp"
#include "measured/profile.hpp"

namespace circoll::cli {

/// Says how far a long command is, and how long it will take, on standard error. On a terminal one line is written over
/// and over; elsewhere each step is a line.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The work is `units` long, and is taken to need `seconds`.
  void expect(std::size_t units, double seconds);
  /// The next step, in words.
  void step(const std::string& what);
  /// Units that are done, measured now.
  void advance(std::size_t units) { done_ += units; }
  /// Units that need not be done.
  void skip(std::size_t units) { left_out_ += units; }
  /// Writes the line anew.
  void show();
  /// Removes it.
  void clear();
  /// The seconds that are left.
  [[nodiscard]] double left_s() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool shown_ = false;
  std::string what_{};
  std::size_t units_ = 0, done_ = 0, left_out_ = 0;
  double expected_s_ = 0;
  Clock::time_point begin_ = Clock::now();
};

/// "1 min 20 s".
[[nodiscard]] std::string readable_duration(double seconds);

/// A directory for results: the one that the user wants to keep, or one that is removed in the end.
class ResultDirectory {
 public:
  /// Makes it. Empty `keep`: a temporary one. Throws std::runtime_error if that is not possible.
  explicit ResultDirectory(const std::string& keep);
  ~ResultDirectory();
  ResultDirectory(const ResultDirectory&) = delete;
  ResultDirectory& operator=(const ResultDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool temporary_;
};

/// The way in which circoll-bench is started.
struct LaunchPlan {
  Launcher launcher{};
  std::string bench{};
  Rank ranks = 2;
  LaunchOptions how{};
  std::string sync = "auto";  ///< how ranks start together, as of circoll-bench
  double seconds = 0.05;      ///< for each series
};

/// Measures cells in launch `number`, which is also the seed of all orders, unless the directory has the result
/// already. `what` names the launch to the user. Throws std::runtime_error, in a sentence, if the launch fails, takes
/// too long or is interrupted.
[[nodiscard]] Launch measure(const LaunchPlan& plan, const std::vector<measured::AskedChoice>& cells, int number,
                             const std::string& what, const ResultDirectory& directory, Progress& progress);

}  // namespace circoll::cli
