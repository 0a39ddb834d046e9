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
  std::vector<std::string> algorithms{};  ///< names with their parameters, "native", "auto" or "all"
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

/// Whether a collective has an algorithm of this name with these parameters; if it has the algorithm only, `why` says what is wrong.
[[nodiscard]] bool may_be_named(Collective collective, const std::string& name, std::string* why = nullptr);

/// Reads the command line. Returns -1 to go on, else the exit code. Prints (help, errors) only if `talk`.
[[nodiscard]] int read_options(int argc, char** argv, bool talk, Options& options);

}  // namespace circoll::bench
