// The MPI_..._c symbols of MPI 4: counts and displacements of 64 bits. Empty for an MPI that has none.
#include <mpi.h>

#include "exec/mpi/calls.hpp"
#include "interpose/serve.hpp"

#if MPI_VERSION >= 4

namespace {

using circoll::Collective;
using circoll::interpose::serve;
using circoll::mpi::CountArray;
namespace calls = circoll::mpi::calls;

CountArray wide(const void* data) { return data == nullptr ? CountArray{} : CountArray::wide(data); }

}  // namespace

extern "C" {

CIRCOLL_EXPORT int MPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                   MPI_Op op, MPI_Comm comm) {
  return serve(calls::allreduce(sendbuf, recvbuf, count, datatype, op, comm));
}

CIRCOLL_EXPORT int MPI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                int root, MPI_Comm comm) {
  return serve(calls::reduce(sendbuf, recvbuf, count, datatype, op, root, comm));
}

CIRCOLL_EXPORT int MPI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return serve(calls::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm));
}

CIRCOLL_EXPORT int MPI_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return serve(calls::reduce_scatter(sendbuf, recvbuf, wide(recvcounts), datatype, op, comm));
}

CIRCOLL_EXPORT int MPI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm) {
  return serve(calls::prefix(Collective::scan, sendbuf, recvbuf, count, datatype, op, comm));
}

CIRCOLL_EXPORT int MPI_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm) {
  return serve(calls::prefix(Collective::exscan, sendbuf, recvbuf, count, datatype, op, comm));
}

CIRCOLL_EXPORT int MPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return serve(calls::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

CIRCOLL_EXPORT int MPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                                    MPI_Comm comm) {
  return serve(
      calls::allgatherv(sendbuf, sendcount, sendtype, recvbuf, wide(recvcounts), wide(displs), recvtype, comm));
}

CIRCOLL_EXPORT int MPI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return serve(calls::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

CIRCOLL_EXPORT int MPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                                 MPI_Comm comm) {
  return serve(
      calls::gatherv(sendbuf, sendcount, sendtype, recvbuf, wide(recvcounts), wide(displs), recvtype, root, comm));
}

CIRCOLL_EXPORT int MPI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return serve(calls::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

CIRCOLL_EXPORT int MPI_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                                  MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  int root, MPI_Comm comm) {
  return serve(
      calls::scatterv(sendbuf, wide(sendcounts), wide(displs), sendtype, recvbuf, recvcount, recvtype, root, comm));
}

CIRCOLL_EXPORT int MPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return serve(calls::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

CIRCOLL_EXPORT int MPI_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                   MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return serve(calls::alltoallv(sendbuf, wide(sendcounts), wide(sdispls), sendtype, recvbuf, wide(recvcounts),
                                wide(rdispls), recvtype, comm));
}

CIRCOLL_EXPORT int MPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return serve(calls::bcast(buffer, count, datatype, root, comm));
}

}  // extern "C"

#endif
