// Tables and files that circoll-bench prints and writes, and the surroundings of a run that files name.
#pragma once

#include <string>
#include <vector>

#include "cell.hpp"

namespace circoll::bench {

/// A runtime of devices that rank 0 has loaded.
struct DeviceRuntime {
  std::string name{};
  std::string unused{};  ///< why rank 0 has no memory of it: "has no driver"; empty: it may have some
};

struct Surroundings {
  std::string library{};  ///< the MPI library with its version, as profiles name it
  std::string processor{};
  std::string host{};
  int neighbours = 0;     ///< ranks that have others on their node
  int by_memory = 0;      ///< of them, those that reach all of the others by memory
  int read_directly = 0;  ///< and read them
  bool crowded = false;   ///< a node has more ranks than processors
  std::string reason{};   ///< why some do not reach others by memory; empty: all do
  std::string reading_reason{};
  std::vector<DeviceRuntime> devices{};
};

/// Collective over MPI_COMM_WORLD; significant at rank 0. Ways of messages are known after the first collective of
/// Circoll.
[[nodiscard]] Surroundings surroundings();

/// The form of a table.
enum class Form {
  compared,  ///< native and auto side by side: a row for each cell, in at most 80 columns
  usual,     ///< a row for each algorithm, in at most 100 columns
  wide,      ///< all numbers
};
/// `compared` where every cell asks for native and auto and for nothing else, unless the options ask for all numbers.
[[nodiscard]] Form form_of(const Options& options, const std::vector<AskedCell>& cells);

/// The first line of a table: "# Circoll 0.2.0 with openmpi 4.1.4: 4 ranks, rank 0 on node7, 2026-11-26T07:15:00Z".
[[nodiscard]] std::string heading(int size);
/// The end of a row of an algorithm that has no valid repetition; it has no row in files.
[[nodiscard]] std::string nothing_measured(const Series& series, bool wide);
/// A name in at most so many columns. Longer ones lose their middle, as their parameters stand at the end.
[[nodiscard]] std::string clipped(const std::string& name, std::size_t columns);
/// "auto (ring)", or the name of an algorithm that was asked for.
[[nodiscard]] std::string label(const Series& series);
[[nodiscard]] std::string table_header(Form form, const StartLine& line, Buffers buffers);
/// A line for every measured collective whose algorithms inside the MPI library cannot be chosen.
[[nodiscard]] std::string without_library_algorithms(const Options& options);
/// The rows of one cell.
[[nodiscard]] std::string table_rows(Form form, const Cell& cell, int size, Sync sync);
/// The same of guidelines; `size` ranks. In at most 100 columns unless `wide`.
[[nodiscard]] std::string guideline_header(const StartLine& line, bool wide);
[[nodiscard]] std::string guideline_rows(const GuidelineCell& cell, int size, bool wide);
/// The lines below a table: what its rows leave open, and the verdict in words. The last line says in how many cells
/// auto was faster than native. It is missing unless both were measured.
[[nodiscard]] std::string verdict(Form form, const std::vector<Cell>& cells, Sync sync);
/// One row per repetition.
void write_csv(const std::string& path, const std::vector<Cell>& cells, int size);
/// The table, and what was asked; also the sides of guidelines, if there are some.
void write_json(const std::string& path, const std::vector<Cell>& cells, int size, const Options& options,
                const StartLine& line, const Surroundings& here, const std::vector<GuidelineCell>& guidelines = {});

}  // namespace circoll::bench
