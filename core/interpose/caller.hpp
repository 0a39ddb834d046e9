// The place in the program that a call of MPI comes from.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

namespace circoll::interpose {

/// Finds the program's own code behind the layers of other languages. Thread-safe.
class Callers {
 public:
  /// The `return_address` of an entry point, or the first one on the stack outside of MPI. The latter holds if the
  /// former lies in a library of MPI (a Fortran binding, say). To be called while the entry point has not returned.
  [[nodiscard]] const void* outside_mpi(const void* return_address);

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, bool> in_mpi_;  ///< of the return addresses seen so far
};

/// "main+0x1f (./program+0x1139)": symbol, if it is a dynamic one, and file with the offsets of the call.
[[nodiscard]] std::string place_text(const void* return_address);

}  // namespace circoll::interpose
