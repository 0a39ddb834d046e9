// Every form of every collective, by its arguments.
#pragma once

#include <mpi.h>

#include "instance.hpp"

namespace circoll::torture {

/// Calls MPI_X, or MPI_X_c if `large` and the MPI has it.
int call_blocking(Collective collective, const Arguments& a, bool large);
/// MPI_Ix.
int call_nonblocking(Collective collective, const Arguments& a, bool large, MPI_Request* request);
/// MPI_X_init, or what the MPI calls it.
int call_init(Collective collective, const Arguments& a, bool large, MPI_Request* request);
/// PMPI_X: what MPI_X is compared with.
int call_native(Collective collective, const Arguments& a);

/// True if the symbol that serves this call is the MPI library's own.
[[nodiscard]] bool is_native(Collective collective, Mode mode, bool large);

}  // namespace circoll::torture
