// The MPI functions that must know persistent requests of ours, what pending operations still need, and communicators that go.
#include <mpi.h>

#include <new>
#include <vector>

#include "exec/mpi/call/kept_arguments.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/pending/nonblocking.hpp"
#include "interpose/next.hpp"
#include "interpose/serve.hpp"

extern "C" {

CIRCOLL_EXPORT int MPI_Start(MPI_Request* request) {
  int error = MPI_SUCCESS;
  return circoll::interpose::start_ours(*request, &error) ? error : CIRCOLL_NEXT(Start)(request);
}

CIRCOLL_EXPORT int MPI_Startall(int count, MPI_Request requests[]) {
  for (int i = 0; i < count; ++i) {
    if (const int error = MPI_Start(&requests[i]); error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

CIRCOLL_EXPORT int MPI_Request_free(MPI_Request* request) {
  int error = MPI_SUCCESS;
  return circoll::mpi::free_persistent(request, &error) ? error : CIRCOLL_NEXT(Request_free)(request);
}

CIRCOLL_EXPORT int MPI_Cancel(MPI_Request* request) {
  int error = MPI_SUCCESS;
  const bool ours =
      circoll::mpi::cancel_persistent(*request, &error) || circoll::mpi::cancel_nonblocking(*request, &error);
  return ours ? error : CIRCOLL_NEXT(Cancel)(request);
}

#ifdef MPICH_VERSION
/// Of more than 64 requests MPICH 4.0.2 looks only at the last ones to see whether all are messages, unless statuses are
/// wanted; it aborts if there was a persistent one, as ours may be, before them.
CIRCOLL_EXPORT int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  constexpr int looked_at = 64;
  if (count <= looked_at || statuses != MPI_STATUSES_IGNORE)
    return CIRCOLL_NEXT(Testall)(count, requests, flag, statuses);
  try {
    std::vector<MPI_Status> unwanted(static_cast<std::size_t>(count));
    return CIRCOLL_NEXT(Testall)(count, requests, flag, unwanted.data());
  } catch (const std::bad_alloc&) {
    return CIRCOLL_NEXT(Testall)(count, requests, flag, statuses);
  }
}
#endif

CIRCOLL_EXPORT int MPI_Comm_free(MPI_Comm* comm) {
  const circoll::mpi::Freeing freeing(*comm);
  return CIRCOLL_NEXT(Comm_free)(comm);
}

CIRCOLL_EXPORT int MPI_Comm_disconnect(MPI_Comm* comm) {
  const circoll::mpi::Freeing freeing(*comm);
  return CIRCOLL_NEXT(Comm_disconnect)(comm);
}

CIRCOLL_EXPORT int MPI_Op_free(MPI_Op* op) {
  if (!circoll::mpi::free_op_later(*op)) return CIRCOLL_NEXT(Op_free)(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

}  // extern "C"
