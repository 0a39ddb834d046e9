// What the MPI libraries themselves get wrong.
#pragma once

#include "case.hpp"

namespace circoll::torture {

/// True if the library's own collective crashes, hangs or errs: it is no oracle then, and called only if something else
/// serves it. The same on all ranks of a communicator of this size.
[[nodiscard]] bool is_broken_natively(const Operation& operation, Mode mode, int size);

/// True if the library's own call returns an error for it, to the ranks that make it, without waiting or crashing.
[[nodiscard]] bool refuses_natively(const Operation& operation, Mode mode, Fault fault);

/// True if the library's own nonblocking and persistent collectives need no array of counts or displacements once the call
/// has returned. MPI allows them to, but programs rely on it that they do not.
[[nodiscard]] bool copies_arrays_natively(Collective collective, Mode mode);

/// True if the library's own nonblocking collectives need types, operators and communicators that MPI allows to free
/// while they are pending.
[[nodiscard]] bool needs_handles_natively();

}  // namespace circoll::torture
