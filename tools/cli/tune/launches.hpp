// Launches of circoll-bench, whose results are kept so that an interrupted tuning goes on where it was.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launcher.hpp"
#include "measured/measurement.hpp"
#include "measured/profile_choice.hpp"
#include "tune/progress.hpp"

namespace circoll::cli {

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

/// The name of a result in the directory: the same for the same cells, ranks, times and library.
[[nodiscard]] std::string result_file(const LaunchPlan& plan, const std::vector<measured::AskedChoice>& cells,
                                      int number);

/// Measures cells in launch `number`, which is also the seed of all orders, unless the directory has the result
/// already. `what` names the launch to the user. Throws std::runtime_error, in a sentence, if the launch fails, takes
/// too long or is interrupted.
[[nodiscard]] Launch measure(const LaunchPlan& plan, const std::vector<measured::AskedChoice>& cells, int number,
                             const std::string& what, const ResultDirectory& directory, Progress& progress);

}  // namespace circoll::cli
