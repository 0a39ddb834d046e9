// MPI_Testall of MPICH, which must not see more than some persistent requests at once. The drop-in for the standard ABI
// has it, too, as MPICH may be behind that.
#include <mpi.h>

#include <new>
#include <vector>

#include "exec/mpi/library/library.hpp"
#include "interpose/serve.hpp"

extern "C" {

/// Among more than 64 requests MPICH 4.0.2 looks only at the last ones to see whether all are messages. It does so
/// unless statuses are wanted. It aborts if there was a persistent request, as ours may be, before them.
CIRCOLL_EXPORT int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  constexpr int looked_at = 64;
  if (count <= looked_at || statuses != MPI_STATUSES_IGNORE ||
      circoll::mpi::library::implementation() != &circoll::mpich_library) {
    return CIRCOLL_NEXT(Testall)(count, requests, flag, statuses);
  }
  try {
    std::vector<MPI_Status> unwanted(static_cast<std::size_t>(count));
    return CIRCOLL_NEXT(Testall)(count, requests, flag, unwanted.data());
  } catch (const std::bad_alloc&) {
    return CIRCOLL_NEXT(Testall)(count, requests, flag, statuses);
  }
}

}  // extern "C"
