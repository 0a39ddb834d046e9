// Every form of every collective, by its arguments, right or wrong.
#pragma once

#include <mpi.h>

#include <string>

#include "communicators.hpp"
#include "instance.hpp"

namespace circoll::torture {

/// Calls MPI_X, MPI_Ix or MPI_X_init (or what the MPI calls it). The last two make a request. It is the form with _c if
/// `large` and the MPI has it.
int call(CalledCollective called, Mode mode, const Arguments& a, bool large, MPI_Request* request);
/// Calls PMPI_X, with whose results those of MPI_X are compared.
int call_native(Collective collective, const Arguments& a);

/// True if the symbol that serves this call is the MPI library's own.
[[nodiscard]] bool is_native(CalledCollective called, Mode mode, bool large);

// Erroneous calls, which are made in between. Each gets its error at once, and the next right call matches as if
// there had been none (mistakes.cpp).

/// True if this rank makes the call, in a communicator of `size` ranks.
[[nodiscard]] bool makes(const Mistake& mistake, int rank, int size);

/// Makes the erroneous call. Returns the complaint about its outcome; empty if the outcome is right.
[[nodiscard]] std::string make_mistake(const Mistake& mistake, const Operation& operation, const Communicator& c);

}  // namespace circoll::torture
