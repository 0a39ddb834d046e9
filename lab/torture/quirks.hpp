// Errors of the MPI libraries themselves.
#pragma once

#include "case.hpp"

namespace circoll::torture {

/// True if the library's own collective crashes, hangs or errs. It is no oracle then, and called only if something else
/// serves it. The same on all ranks of a communicator of this size.
[[nodiscard]] bool is_broken_natively(const Operation& operation, Mode mode, int size);

/// True if the library's own call returns an error to the ranks that make it, without waiting or crashing.
[[nodiscard]] bool refuses_natively(const Operation& operation, Mode mode, Fault fault);

/// True if a call returns MPI_SUCCESS when a handler of the user's has returned from its error. The library is asked.
[[nodiscard]] bool forgets_errors_natively();

/// True if the library's own nonblocking collectives need types, operators and communicators until they are complete.
/// MPI allows to free these while they are pending.
[[nodiscard]] bool needs_handles_natively();

}  // namespace circoll::torture
