// Charts: a Python program (lab/python/circoll/plot) draws what commands write with --json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options/cli11.hpp"

namespace circoll::cli {

/// The words on its command line besides files and output.
struct ChartOptions {
  std::string kind{};   ///< "times" or "ratios" of measurements, "spacetime" or "circle" of rounds; empty: the first
  std::string title{};  ///< empty: one by the contents
};

/// A chart to be drawn. It is made before long work, and drawn after the numbers are printed, which a chart that fails
/// does not lose. An Interruptible is around each draw().
class Chart {
 public:
  /// Looks for what drawing needs. Throws Error(unsupported) that says what to install if there is no Python with
  /// matplotlib, and std::runtime_error if the file cannot be written.
  explicit Chart(std::string output);

  /// Draws files into one chart. Throws std::runtime_error with the sentence of the program if it fails.
  void draw(const std::vector<std::string>& files, const ChartOptions& options = {}) const;
  /// Draws a text in JSON, likewise.
  void draw_json(const std::string& json) const;

 private:
  std::string output_;
  std::string python_;
};
/// The chart of a name; nothing if that is empty.
[[nodiscard]] std::optional<Chart> chart_for(const std::string& output);

/// Adds --plot, the name of a chart.
void add_plot_option(CLI::App& command, std::string& output);
/// Accepts names that end in .svg, .pdf or .png.
[[nodiscard]] CLI::Validator chart_file();

}  // namespace circoll::cli
