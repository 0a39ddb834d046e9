// The command line of circoll-bench, which circoll bench reads, too, before it starts ranks.
//
// From this one table come the help of both, the manual page and what shells complete.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "circoll/types.hpp"

namespace CLI {
class App;
}

namespace circoll::options {

/// The options of circoll-bench that mean what is written.
struct BenchValues {
  bool native_algorithms = false;  ///< also all algorithms inside the MPI library
  int root = 0;
  int reps = 1000;         ///< at most, per cell
  int warm_up = 0;         ///< repetitions before those, which do not count
  double seconds = 1;      ///< at most, per cell and algorithm
  double between_s = 0;    ///< other work of each rank before each repetition
  double spread_s = 0;     ///< in which the ranks arrive, one by one
  std::uint64_t seed = 1;  ///< of the order of algorithms, and of arrivals
  bool check = false;
  bool wide = false;  ///< print all columns
  std::string csv{};
  std::string json{};
  std::string cells{};          ///< a file of cells instead of collectives, algorithms and sizes; empty: none
  std::string policy = "auto";  ///< what "auto" among the algorithms means
  std::string machine{};        ///< a file; empty: the default machine
  std::string calibrate{};      ///< a file to write; empty: measure collectives
  std::string machine_name = "measured";
  bool guidelines = false;  ///< measure the sides of performance guidelines
};

/// All options as they are written. Names and lists are still text.
struct BenchWords : BenchValues {
  std::string collectives = "all";
  std::string algorithms = "native,auto";
  std::string segments = "4Ki,32Ki,256Ki";
  std::string bytes = "8,1Ki,64Ki";
  std::string type = "byte";
  std::string op = "bor";
  std::string sync = "auto";
  std::string buffers = "auto";
};

/// Declares the options on a command line. Values are checked as far as that takes no MPI library.
void add_bench_options(CLI::App& app, BenchWords& words);

/// The examples of the help, one on each line.
[[nodiscard]] std::string bench_examples();

/// Reads "all" or names separated by commas. Throws Error(unknown_name).
[[nodiscard]] std::vector<Collective> read_collectives(const std::string& text);

/// Reads sizes separated by commas; "8..1Mi" is 8, 16, 32 and so on up to 1Mi. Throws Error(invalid_argument).
[[nodiscard]] std::vector<Count> read_sizes(const std::string& text);

}  // namespace circoll::options
