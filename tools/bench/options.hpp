// Options of circoll-bench say what it measures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "circoll/types.hpp"
#include "model/fit.hpp"
#include "options/bench.hpp"
#include "start_line.hpp"

namespace circoll::bench {

/// The state of the callers' buffers when a repetition begins.
enum class Buffers {
  reuse,    ///< as the repetition before has left them, of whatever algorithm
  rewrite,  ///< of this algorithm alone; what is sent has just been written, and what was received has been read
};

struct Options : options::BenchValues {
  std::vector<Collective> collectives;
  std::vector<std::string> algorithms{};  ///< names with their parameters, "native", "auto", "all", or "LIBRARY/NAME"
  std::vector<Count> segments{};          ///< the segment sizes to try with the library's algorithms that have segments
  std::vector<Count> bytes;
  Type type = Type::byte;
  Op op = Op::bor;
  Sync sync = Sync::automatic;
  Buffers buffers = Buffers::reuse;
  std::optional<NetworkNumbers> network;  ///< of the hosts; nothing: those of the machine
  std::string profile;                    ///< the text of the profile that "auto" goes by, if `policy` names one
};

/// The algorithm of a collective that a word of --algorithm names, with its parameters, or nothing. NAME is that of
/// every collective which has it, COLLECTIVE/NAME of one, LIBRARY/NAME one inside the MPI library. If only the
/// parameters are not its own, `why` says what is wrong.
[[nodiscard]] std::optional<std::string> named_by(const std::string& word, Collective collective,
                                                  std::string* why = nullptr);

/// A cell that is asked for, with algorithms of its own.
struct AskedCell {
  Collective collective = Collective::barrier;
  Count bytes = 0;  ///< as of --bytes
  std::vector<std::string> algorithms{};
};

/// The cells that the options ask for: those of --cells, or every collective with every size.
[[nodiscard]] std::vector<AskedCell> asked_cells(const Options& options);

/// The algorithms of --algorithm that can serve a collective here; "native" first. Not those inside the MPI library.
[[nodiscard]] std::vector<std::string> algorithms_for(const Options& options, Collective collective, int size);
/// Those inside the MPI library, by --algorithm and --native-algorithms, for a vector of so many bytes.
[[nodiscard]] std::vector<std::string> library_algorithms_for(const Options& options, Collective collective, int size,
                                                              Count vector_bytes);

[[nodiscard]] std::string to_string(Buffers buffers);

/// Reads the command line. Returns -1 to go on, else the exit code. Prints (help, errors) only if `talk`.
[[nodiscard]] int read_options(int argc, char** argv, bool talk, Options& options);

}  // namespace circoll::bench
