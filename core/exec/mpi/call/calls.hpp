// The calls of all collectives from the arguments of MPI's own functions, in their order. Written here once, for the
// API and for the drop-in.
#pragma once

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/call/neighbor_call.hpp"

namespace circoll::mpi::calls {

/// A reduction with one count: allreduce, reduce, scan, exscan. `root` is 0 where there is none.
inline Call reduction(Collective collective, const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype,
                      MPI_Op op, int root, MPI_Comm comm) {
  return {.collective = collective,
          .sendbuf = sendbuf,
          .recvbuf = recvbuf,
          .sendcount = count,
          .sendtype = datatype,
          .op = op,
          .root = root,
          .comm = comm};
}

inline Call allreduce(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op,
                      MPI_Comm comm) {
  return reduction(Collective::allreduce, sendbuf, recvbuf, count, datatype, op, 0, comm);
}

inline Call reduce(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, int root,
                   MPI_Comm comm) {
  return reduction(Collective::reduce, sendbuf, recvbuf, count, datatype, op, root, comm);
}

inline Call scan(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return reduction(Collective::scan, sendbuf, recvbuf, count, datatype, op, 0, comm);
}

inline Call exscan(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return reduction(Collective::exscan, sendbuf, recvbuf, count, datatype, op, 0, comm);
}

inline Call reduce_scatter_block(const void* sendbuf, void* recvbuf, Count recvcount, MPI_Datatype datatype, MPI_Op op,
                                 MPI_Comm comm) {
  return {.collective = Collective::reduce_scatter_block,
          .sendbuf = sendbuf,
          .recvbuf = recvbuf,
          .recvcount = recvcount,
          .sendtype = datatype,
          .op = op,
          .comm = comm};
}

inline Call reduce_scatter(const void* sendbuf, void* recvbuf, const CountArray& recvcounts, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm) {
  return {.collective = Collective::reduce_scatter,
          .sendbuf = sendbuf,
          .recvbuf = recvbuf,
          .recvcounts = recvcounts,
          .sendtype = datatype,
          .op = op,
          .comm = comm};
}

/// Movement with one count on each side: allgather, gather, scatter, alltoall. `root` is 0 where there is none.
inline Call counts_of_both(Collective collective, const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                           void* recvbuf, Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return {.collective = collective,
          .sendbuf = sendbuf,
          .recvbuf = recvbuf,
          .sendcount = sendcount,
          .recvcount = recvcount,
          .sendtype = sendtype,
          .recvtype = recvtype,
          .root = root,
          .comm = comm};
}

inline Call allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm) {
  return counts_of_both(Collective::allgather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, 0, comm);
}

inline Call gather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return counts_of_both(Collective::gather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

inline Call scatter(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return counts_of_both(Collective::scatter, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

inline Call alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm) {
  return counts_of_both(Collective::alltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, 0, comm);
}

inline Call allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const CountArray& recvcounts, const CountArray& displs, MPI_Datatype recvtype, MPI_Comm comm) {
  return {.collective = Collective::allgatherv,
          .sendbuf = sendbuf,
          .recvbuf = recvbuf,
          .sendcount = sendcount,
          .recvcounts = recvcounts,
          .recvdispls = displs,
          .sendtype = sendtype,
          .recvtype = recvtype,
          .comm = comm};
}

inline Call gatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const CountArray& recvcounts, const CountArray& displs, MPI_Datatype recvtype, int root,
                    MPI_Comm comm) {
  return {.collective = Collective::gatherv,
          .sendbuf = sendbuf,
          .recvbuf = recvbuf,
          .sendcount = sendcount,
          .recvcounts = recvcounts,
          .recvdispls = displs,
          .sendtype = sendtype,
          .recvtype = recvtype,
          .root = root,
          .comm = comm};
}

inline Call scatterv(const void* sendbuf, const CountArray& sendcounts, const CountArray& displs, MPI_Datatype sendtype,
                     void* recvbuf, Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return {.collective = Collective::scatterv,
          .sendbuf = sendbuf,
          .recvbuf = recvbuf,
          .recvcount = recvcount,
          .sendcounts = sendcounts,
          .senddispls = displs,
          .sendtype = sendtype,
          .recvtype = recvtype,
          .root = root,
          .comm = comm};
}

inline Call alltoallv(const void* sendbuf, const CountArray& sendcounts, const CountArray& sdispls,
                      MPI_Datatype sendtype, void* recvbuf, const CountArray& recvcounts, const CountArray& rdispls,
                      MPI_Datatype recvtype, MPI_Comm comm) {
  return {.collective = Collective::alltoallv,
          .sendbuf = sendbuf,
          .recvbuf = recvbuf,
          .sendcounts = sendcounts,
          .recvcounts = recvcounts,
          .senddispls = sdispls,
          .recvdispls = rdispls,
          .sendtype = sendtype,
          .recvtype = recvtype,
          .comm = comm};
}

inline Call bcast(void* buffer, Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return {.collective = Collective::bcast,
          .recvbuf = buffer,
          .recvcount = count,
          .recvtype = datatype,
          .root = root,
          .comm = comm};
}

inline Call alltoallw(const void* sendbuf, const CountArray& sendcounts, const CountArray& sdispls,
                      const MPI_Datatype* sendtypes, void* recvbuf, const CountArray& recvcounts,
                      const CountArray& rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
  Call call =
      alltoallv(sendbuf, sendcounts, sdispls, MPI_DATATYPE_NULL, recvbuf, recvcounts, rdispls, MPI_DATATYPE_NULL, comm);
  call.sendtypes = sendtypes;
  call.recvtypes = recvtypes;
  call.has_types = true;
  return call;
}

/// The call among neighbours that has the arguments of one among all ranks.
inline NeighborCall among_neighbors(NeighborFunction function, const Call& c) {
  return {.function = function,
          .send = {.buffer = c.sendbuf,
                   .count = c.sendcount,
                   .type = c.sendtype,
                   .counts = c.sendcounts,
                   .displs = c.senddispls,
                   .types = c.sendtypes},
          .recv = {.buffer = c.recvbuf,
                   .count = c.recvcount,
                   .type = c.recvtype,
                   .counts = c.recvcounts,
                   .displs = c.recvdispls,
                   .types = c.recvtypes},
          .comm = c.comm};
}

inline Call barrier(MPI_Comm comm) { return {.collective = Collective::barrier, .comm = comm}; }

}  // namespace circoll::mpi::calls
