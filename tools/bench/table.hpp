// Tables and files that circoll-bench prints and writes.
#pragma once

#include <string>
#include <vector>

#include "cell.hpp"
#include "guidelines.hpp"
#include "surroundings.hpp"

namespace circoll::bench {

/// The line of an algorithm that has no valid repetition; it has no row in files.
[[nodiscard]] std::string nothing_measured(const Series& series);
[[nodiscard]] std::string table_header(const Options& options, const StartLine& line);
/// A line for every measured collective whose algorithms inside the MPI library cannot be chosen.
[[nodiscard]] std::string without_library_algorithms(const Options& options);
/// The rows of one cell, one per algorithm, in at most 100 columns unless `options.wide`.
[[nodiscard]] std::string table_rows(const Options& options, const Cell& cell, int size);
/// In words: in how many cells auto was faster than native, and where it was slower. Empty unless both were measured.
[[nodiscard]] std::string verdict(const std::vector<Cell>& cells);
/// One row per repetition.
void write_csv(const std::string& path, const std::vector<Cell>& cells, int size);
/// The table, and what was asked; also the sides of guidelines, if there are some.
void write_json(const std::string& path, const std::vector<Cell>& cells, int size, const Options& options,
                const StartLine& line, const Surroundings& here, const std::vector<GuidelineCell>& guidelines = {});

}  // namespace circoll::bench
