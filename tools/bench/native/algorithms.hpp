// Algorithms inside the MPI library, by names such as "openmpi/segmented_ring:segment=65536", and calls made by them.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "circoll/types.hpp"
#include "native/library.hpp"

namespace circoll::bench::native {

/// True for "LIBRARY/NAME", where LIBRARY is an MPI library and not a collective.
[[nodiscard]] bool names_library(const std::string& word);

/// The MPI library in use and its version, "openmpi 4.1.4".
[[nodiscard]] std::string library_version();

/// True if the command line asks for algorithms of the library. It is asked before MPI_Init.
[[nodiscard]] bool asks_for_library(int argc, char** argv);

/// The names of all algorithms that can be chosen for a collective now. There are none on one rank. Those that cut
/// something of a vector of so many bytes are there without segments, and with those of these sizes that do cut it.
[[nodiscard]] std::vector<std::string> all_names(Collective collective, int size, Count vector_bytes,
                                                 const std::vector<Count>& segments);

/// The full name of an algorithm that a word names, or nothing; `why` says what is wrong then.
[[nodiscard]] std::optional<std::string> named_by(const std::string& word, Collective collective, std::string* why);

/// The name of what serves native calls: "native", or the algorithm that variables name since the program's start.
[[nodiscard]] std::string name_of_native(Collective collective);

/// An algorithm that the library is made to use.
class Forced {
 public:
  /// The one of a name that all_names or named_by has given. It lives as long as the process. Collective on
  /// MPI_COMM_WORLD. Throws Error(unsupported) if the library cannot be made to use it.
  [[nodiscard]] static const Forced& get(Collective collective, const std::string& name);

  /// Like MPI_COMM_WORLD; errors are returned. Calls on it between arm() and disarm() are served by the algorithm.
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  void arm() const;
  void disarm() const;

 private:
  explicit Forced(std::vector<Setting> settings);

  std::vector<Setting> settings_{}, before_{};
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace circoll::bench::native
