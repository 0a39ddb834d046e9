// The command line of circoll-bench, which circoll bench reads, too, before it starts ranks.
//
// From this one table come the help of both, the manual page and what shells complete.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::options {

/// The options of circoll-bench as they are written; lists are still text.
struct BenchWords {
  std::string collectives = "all";
  std::string algorithms = "native,auto";
  bool native_algorithms = false;
  std::string segments = "4Ki,32Ki,256Ki";
  std::string bytes = "8,1Ki,64Ki";
  std::string type = "byte";
  std::string op = "bor";
  int root = 0;
  int reps = 1000;
  int warm_up = 0;
  double seconds = 1;
  std::string sync = "auto";
  std::string buffers = "reuse";
  std::uint64_t seed = 1;
  bool check = false;
  bool wide = false;
  std::string csv{};
  std::string json{};
  std::string cells{};
  std::string policy = "auto";
  std::string machine{};
  std::string calibrate{};
  std::string machine_name = "measured";
  bool guidelines = false;
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
