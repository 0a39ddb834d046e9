// Charts: a Python program (lab/python/circoll/plot) draws what commands write with --json.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace circoll::cli {

/// The words on its command line besides files and output.
struct ChartOptions {
  std::string kind{};   ///< "times" or "ratios", of measurements; empty: times
  std::string title{};  ///< empty: one by the contents
};

/// Draws files into one chart. Throws Error(unsupported) that says what to install if there is no Python with
/// matplotlib, and std::runtime_error with the sentence of the program if it fails.
void draw_chart(const std::vector<std::string>& files, const std::string& output, const ChartOptions& options = {});

/// Draws a text in JSON, likewise.
void draw_chart_of(const std::string& json, const std::string& output);

/// Adds --plot, the name of a chart.
void add_plot_option(CLI::App& command, std::string& output);
/// Accepts names that end in .svg, .pdf or .png.
[[nodiscard]] CLI::Validator chart_file();

}  // namespace circoll::cli
