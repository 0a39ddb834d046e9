// Options of circoll-bench say what it measures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "circoll/types.hpp"
#include "start_line.hpp"

namespace circoll::bench {

/// The state of the callers' buffers when a repetition begins.
enum class Buffers {
  reuse,    ///< as the repetition before has left them, of whatever algorithm
  rewrite,  ///< of this algorithm alone; what is sent has just been written, and what was received has been read
};

struct Options {
  std::vector<Collective> collectives;
  std::vector<std::string> algorithms{};  ///< names with their parameters, "native", "auto", "all", or "LIBRARY/NAME"
  std::vector<Count> bytes;
  Type type = Type::byte;
  Op op = Op::bor;
  int root = 0;
  int reps = 1000;     ///< at most, per cell
  int warm_up = 0;     ///< repetitions before those, which do not count
  double seconds = 1;  ///< at most, per cell and algorithm
  Sync sync = Sync::automatic;
  Buffers buffers = Buffers::reuse;
  std::uint64_t seed = 1;  ///< of the order of algorithms
  bool check = false;
  bool wide = false;  ///< print all columns
  std::string csv;
  std::string json;
  std::string cells;            ///< a file of cells instead of collectives, algorithms and sizes; empty: none
  std::string policy = "auto";  ///< what "auto" among the algorithms means
  std::string profile;          ///< the text of the profile that "auto" goes by, if `policy` names one
  std::string machine;          ///< a file; empty: the default machine
  std::string calibrate;        ///< a file to write; empty: measure collectives
  std::string machine_name = "measured";
  bool native_algorithms = false;  ///< also all algorithms inside the MPI library
  std::vector<Count> segments{};   ///< the segment sizes to try with those that have segments
  bool guidelines = false;         ///< measure the sides of performance guidelines
};

/// The algorithm of a collective that a word of --algorithm names, with its parameters, or nothing. NAME is that of
/// every collective which has it, COLLECTIVE/NAME of one, LIBRARY/NAME one inside the MPI library. If only the
/// parameters are not its own, `why` says what is wrong.
[[nodiscard]] std::optional<std::string> named_by(const std::string& word, Collective collective,
                                                  std::string* why = nullptr);

[[nodiscard]] std::string to_string(Buffers buffers);

/// Reads the command line. Returns -1 to go on, else the exit code. Prints (help, errors) only if `talk`.
[[nodiscard]] int read_options(int argc, char** argv, bool talk, Options& options);

}  // namespace circoll::bench
