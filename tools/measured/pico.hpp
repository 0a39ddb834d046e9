// Public results of PICO (github.com/HLC-Lab/pico), a benchmark of collectives on supercomputers.
//
// Its results lie in SYSTEM/STAMP/TEST/COUNT_ALGORITHM_TYPE.csv, a line for each iteration. SYSTEM_metadata.csv
// says what each test was. Tables of medians are read, too. `circoll import` writes both as files of circoll-bench.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::measured {

/// One job of a system on so many nodes.
struct PicoJob {
  std::string system{};
  std::string stamp{};  ///< when it began
  Rank nodes = 1;
  Rank ranks_per_node = 1;
  std::string mpi{};  ///< library and version

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a defaulted comparison for a pointer
  [[nodiscard]] auto operator<=>(const PicoJob&) const = default;
};

/// A test of a job: the iterations of one collective.
struct PicoTest {
  PicoJob job{};
  std::string id{};          ///< its directory
  std::string collective{};  ///< as PICO writes it, "ALLREDUCE"
  bool on_device = false;    ///< the buffers were in the memory of GPUs
};

/// The times of one algorithm and size.
struct PicoTime {
  PicoJob job{};
  std::string collective{};
  std::string algorithm{};  ///< by PICO's name
  std::string type{};       ///< of the elements, by Circoll's name
  bool on_device = false;   ///< the buffers were in the memory of GPUs
  Count elements = 0;       ///< of the whole vector
  Count element_bytes = 4;  ///< of the type
  Count reps = 0;           ///< iterations that count
  double median_s = 0;      ///< of the slowest rank's time
  double low_s = 0;         ///< 95 % confidence interval of the median; 0: unknown
  double high_s = 0;        ///< its upper end
};

// Readers of texts. They throw Error(parse) with `source` and the line.

/// The tests that SYSTEM_metadata.csv describes.
[[nodiscard]] std::vector<PicoTest> pico_tests_from_csv(std::string_view text, const std::string& system,
                                                        const std::string& source);
/// A table of medians, a line for each algorithm and size, as PICO's summaries are. Columns have the names system,
/// stamp, nodes, ranks_per_node, mpi, version, collective, algorithm, bytes, iterations and median_ns. Or they have
/// PICO's own: timestamp, nnodes, tasks_per_node, mpi_lib, mpi_lib_version, collective_type, algo_name, buffer_size,
/// n_iter and median. Without a column type or datatype all elements are int32. gpu_awareness or CUDA may be there.
[[nodiscard]] std::vector<PicoTime> pico_times_from_csv(std::string_view text, const std::string& source);
/// Reps and median of a file of iterations. The first tenth of them does not count.
[[nodiscard]] PicoTime pico_iterations_from_csv(std::string_view text, const std::string& source);
/// Elements, algorithm and type by the name of such a file; nothing if it is another file. Without a type it is int32.
[[nodiscard]] std::optional<PicoTime> pico_file_name(std::string_view name);

/// The names that circoll-bench has for an algorithm of PICO, serving a collective.
struct PicoNames {
  std::optional<Collective> collective{};
  std::string algorithm{};  ///< "ring", "openmpi/ring", "native"; empty: Circoll has no such algorithm
};
/// `inside_as_own`: an algorithm inside an MPI library has the name of Circoll's algorithm of the same shape.
[[nodiscard]] PicoNames names_of_pico(const PicoTime& time, bool inside_as_own);

/// Files as circoll-bench writes them, one for each job and type.
struct PicoImport {
  std::map<std::string, std::string> files{};     ///< by name, "leonardo-2025_04_05___23_20_55-256x1.json"
  std::size_t rows = 0;                           ///< in all of them
  std::map<std::string, std::size_t> left_out{};  ///< by the reason, how many times
};
/// X_over counts before other times of its name and cell, and the shortest time counts among equals. A label X_ompi or
/// X_mpich is left out if its time is that of default_*, and X_over in the same cell takes another. Labels
/// allgather_reduce_ompi and rabenseifner_ompi are left out of a job that has the same times for both in most cells.
[[nodiscard]] PicoImport import_pico(const std::vector<PicoTime>& times, bool inside_as_own);

/// All times below a directory of results, or in one table of medians. Throws Error: parse, invalid_argument (no
/// results are there). `left_out` counts the tests and files that are not read, by the reason.
[[nodiscard]] std::vector<PicoTime> read_pico(const std::filesystem::path& path,
                                              std::map<std::string, std::size_t>& left_out);

}  // namespace circoll::measured
