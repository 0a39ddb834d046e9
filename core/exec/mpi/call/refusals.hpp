// Describes the mistakes in the arguments of a call in words, for the callers of the API. The drop-in leaves that to
// the MPI library.
#pragma once

#include <mpi.h>

#include "exec/mpi/call/call.hpp"

namespace circoll::mpi {

/// Throws Error(invalid_argument) about a call whose arguments are known to be erroneous.
[[noreturn]] void refuse_arguments(const Call& call);

/// Throws Error(invalid_argument) if arguments are erroneous as far as this rank can see. On an intercommunicator only
/// the MPI library can see it.
void require_valid(const Call& call);

/// Has the errors of a communicator returned where they would end the job. A handler of the user's is called
/// nevertheless. If it is MPI_COMM_WORLD, other threads' errors of no communicator are returned meanwhile, too.
class ReturnedErrors {
 public:
  explicit ReturnedErrors(MPI_Comm comm);
  ~ReturnedErrors();
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
  bool changed_ = false;
};

}  // namespace circoll::mpi
