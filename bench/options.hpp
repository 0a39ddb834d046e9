// What circoll-bench measures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "circoll/types.hpp"
#include "start_line.hpp"

namespace circoll::bench {

struct Options {
  std::vector<Collective> collectives;
  std::string algorithms = "native,auto";  ///< names, "native", "auto" or "all", separated by commas
  std::vector<Count> bytes;
  Type type = Type::byte;
  Op op = Op::bor;
  int root = 0;
  int reps = 1000;     ///< at most, per cell
  double seconds = 1;  ///< at most, per cell and algorithm
  Sync sync = Sync::automatic;
  std::uint64_t seed = 1;  ///< of the order of algorithms
  bool check = false;
  std::string csv;
  std::string json;
  std::string policy = "auto";  ///< what "auto" among the algorithms means
  std::string machine;          ///< a file; empty: the default machine
  std::string calibrate;        ///< a file to write; empty: measure collectives
  std::string machine_name = "measured";
  bool guidelines = false;  ///< measure the sides of performance guidelines
};

/// Reads the command line. Returns -1 to go on, else the exit code. Prints (help, errors) only if `talk`.
[[nodiscard]] int read_options(int argc, char** argv, bool talk, Options& options);

}  // namespace circoll::bench
