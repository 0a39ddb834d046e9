// The command line of circoll-torture, and the random cases that it asks for.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "case.hpp"

namespace circoll::torture {

struct Options {
  std::uint64_t seed = 1;
  std::int64_t first = 0;                                         ///< first case
  std::int64_t cases = std::numeric_limits<std::int64_t>::max();  ///< 100 if nothing limits the run
  double seconds = 0;                                             ///< 0: no limit
  Count max_count = 100000;
  int max_operations = 24;
  std::vector<Collective> collectives;
  std::vector<NeighborFunction> neighbors;  ///< likewise among neighbours
  std::vector<Mode> modes;
  bool threads = false;             ///< MPI_THREAD_MULTIPLE, and cases of two threads
  bool may_be_native = false;       ///< the MPI library may serve any call, whatever stands in front of it
  bool many_communicators = false;  ///< every case has hundreds of communicators
  std::string edits;                ///< made to every case
  bool shrink = false;
  int attempts = 3;  ///< runs of a smaller case before it is said to pass
  bool list = false;
  bool serial = false;  ///< the serial reference instead of the native collectives
  bool verbose = false;
  double patience_s = 60;  ///< without progress until the watchdog bites
  std::string repetition;  ///< the options that make another run have the same cases
};

/// Reads the command line. Returns -1 to go on, else the exit code. Prints (help, errors) only if `talk`.
[[nodiscard]] int read_options(int argc, char** argv, bool talk, Options& options);

/// The case `number` is a function of the seed, the number, the size of MPI_COMM_WORLD and the options. It is therefore
/// the same on all ranks.
[[nodiscard]] Case generate(const Options& options, std::int64_t number, int world_size);

}  // namespace circoll::torture
