// Executes one collective call over MPI point-to-point, or passes it to the native collective.
#pragma once

#include <string_view>

#include "exec/mpi/call.hpp"
#include "exec/mpi/choices.hpp"

namespace circoll::mpi {

/// What became of a call.
struct Outcome {
  int error = MPI_SUCCESS;            ///< MPI error code; no error handler has been called for it
  const Selection* served = nullptr;  ///< nullptr: the native collective. Valid until the next call
  std::string_view reason{};          ///< why native, or why this algorithm. Valid until the next call
  Count bytes = 0;                    ///< this rank's contribution or block (packed), the root's where it has none
  bool handled = false;               ///< native: the error handler has been called already, if there was an error
};

/// What to do with a call that the chosen algorithm can not serve.
enum class Otherwise {
  native,  ///< call the MPI library's own
  refuse,  ///< throw Error(unsupported); an automatic choice may still be native
};

/// Executes a call. Whether it is native depends only on values that are equal on all ranks, or on the
/// arguments being erroneous: then the native collective says so, in its own way. Throws Error(internal,
/// transport) and std::bad_alloc.
[[nodiscard]] Outcome perform(const Call& call, const Interned& choice, Otherwise otherwise = Otherwise::native);

}  // namespace circoll::mpi
