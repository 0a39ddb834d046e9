// The MPI functions that must know persistent requests of ours, communicators that go, and objects that pending
// operations need.
#include <mpi.h>

#include "exec/mpi/call/kept_arguments.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/pending/nonblocking.hpp"
#include "interpose/serve.hpp"
#include "interpose/state.hpp"

namespace {

using circoll::interpose::Recorder;

Recorder* known_recorder() {
  const auto* const state = circoll::interpose::State::known();
  return state == nullptr ? nullptr : state->recorder();
}

}  // namespace

extern "C" {

CIRCOLL_EXPORT int MPI_Start(MPI_Request* request) {
  if (Recorder* const recorder = known_recorder()) recorder->started(*request);
  int error = MPI_SUCCESS;
  const double begin_s = circoll::interpose::start_begins();
  if (!circoll::interpose::start_ours(*request, &error)) error = CIRCOLL_NEXT(Start)(request);
  if (begin_s > 0 && error == MPI_SUCCESS) [[unlikely]]
    circoll::interpose::keep_start(*request, begin_s);
  return error;
}

CIRCOLL_EXPORT int MPI_Startall(int count, MPI_Request requests[]) {
  for (int i = 0; i < count; ++i) {
    if (const int error = MPI_Start(&requests[i]); error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

CIRCOLL_EXPORT int MPI_Request_free(MPI_Request* request) {
  if (Recorder* const recorder = known_recorder()) recorder->freed(*request);
  int error = MPI_SUCCESS;
  circoll::interpose::forget_request(*request);
  return circoll::mpi::free_persistent(request, &error) ? error : CIRCOLL_NEXT(Request_free)(request);
}

CIRCOLL_EXPORT int MPI_Cancel(MPI_Request* request) {
  int error = MPI_SUCCESS;
  const bool ours =
      circoll::mpi::cancel_persistent(*request, &error) || circoll::mpi::cancel_nonblocking(*request, &error);
  return ours ? error : CIRCOLL_NEXT(Cancel)(request);
}

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
