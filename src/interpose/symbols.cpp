// The MPI_ symbols in front of the MPI library's own. Nothing throws beyond this file.
#include <mpi.h>

#include "exec/mpi/calls.hpp"
#include "interpose/serve.hpp"
#include "interpose/state.hpp"

namespace {

using circoll::Collective;
using circoll::interpose::serve;
using circoll::interpose::State;
namespace calls = circoll::mpi::calls;

}  // namespace

extern "C" {

// Init is intercepted to warn about the environment at once, and to compare it among the ranks.
CIRCOLL_EXPORT int MPI_Init(int* argc, char*** argv) {
  const int rc = PMPI_Init(argc, argv);
  try {
    if (State* const state = rc == MPI_SUCCESS ? State::get() : nullptr) state->agree();
  } catch (...) {
    return rc;
  }
  return rc;
}

CIRCOLL_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int rc = PMPI_Init_thread(argc, argv, required, provided);
  try {
    if (State* const state = rc == MPI_SUCCESS ? State::get() : nullptr) state->agree();
  } catch (...) {
    return rc;
  }
  return rc;
}

CIRCOLL_EXPORT int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                                 MPI_Comm comm) {
  return serve(calls::allreduce(sendbuf, recvbuf, count, datatype, op, comm));
}

CIRCOLL_EXPORT int MPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                              MPI_Comm comm) {
  return serve(calls::reduce(sendbuf, recvbuf, count, datatype, op, root, comm));
}

CIRCOLL_EXPORT int MPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                                            MPI_Op op, MPI_Comm comm) {
  return serve(calls::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm));
}

CIRCOLL_EXPORT int MPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                                      MPI_Op op, MPI_Comm comm) {
  return serve(calls::reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm));
}

CIRCOLL_EXPORT int MPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm) {
  return serve(calls::prefix(Collective::scan, sendbuf, recvbuf, count, datatype, op, comm));
}

CIRCOLL_EXPORT int MPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm) {
  return serve(calls::prefix(Collective::exscan, sendbuf, recvbuf, count, datatype, op, comm));
}

CIRCOLL_EXPORT int MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return serve(calls::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

CIRCOLL_EXPORT int MPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return serve(calls::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
}

CIRCOLL_EXPORT int MPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                              MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return serve(calls::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

CIRCOLL_EXPORT int MPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                               MPI_Comm comm) {
  return serve(calls::gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm));
}

CIRCOLL_EXPORT int MPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                               MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return serve(calls::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

CIRCOLL_EXPORT int MPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return serve(calls::scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

CIRCOLL_EXPORT int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype, MPI_Comm comm) {
  return serve(calls::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

CIRCOLL_EXPORT int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                 MPI_Datatype recvtype, MPI_Comm comm) {
  return serve(calls::alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm));
}

CIRCOLL_EXPORT int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return serve(calls::bcast(buffer, count, datatype, root, comm));
}

CIRCOLL_EXPORT int MPI_Barrier(MPI_Comm comm) { return serve(calls::barrier(comm)); }

}  // extern "C"
