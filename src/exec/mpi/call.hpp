// One call of an MPI collective: what MPI's own function takes, in one struct for all collectives.
#pragma once

#include "circoll/mpi.hpp"

namespace circoll::mpi {

using CountArray = Counts;

/// Arguments that a collective does not have keep their defaults. Reductions use sendtype for their datatype,
/// and sendcount (allreduce, reduce, scan, exscan), recvcount (reduce_scatter_block) or recvcounts. bcast uses recvbuf,
/// recvcount and recvtype on every rank.
struct Call {
  Collective collective = Collective::barrier;
  const void* sendbuf = nullptr;
  void* recvbuf = nullptr;
  Count sendcount = 0;
  Count recvcount = 0;
  CountArray sendcounts{};  ///< scatterv, alltoallv
  CountArray recvcounts{};  ///< allgatherv, gatherv, reduce_scatter, alltoallv
  CountArray senddispls{};  ///< scatterv, alltoallv
  CountArray recvdispls{};  ///< allgatherv, gatherv, alltoallv
  MPI_Datatype sendtype = MPI_DATATYPE_NULL;
  MPI_Datatype recvtype = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// Whether calls without arrays on one communicator differ at most in where their buffers are; what is said in place of an
/// address (MPI_IN_PLACE, MPI_BOTTOM), or that the two buffers are the same, is equal.
[[nodiscard]] inline bool like(const Call& a, const Call& b) {
  const auto address = [](const void* p) { return p != nullptr && p != MPI_BOTTOM && p != MPI_IN_PLACE; };
  const auto like_buffers = [&](const void* p, const void* q) { return p == q || (address(p) && address(q)); };
  return a.collective == b.collective && a.sendcount == b.sendcount && a.recvcount == b.recvcount &&
         a.sendtype == b.sendtype && a.recvtype == b.recvtype && a.op == b.op && a.root == b.root &&
         like_buffers(a.sendbuf, b.sendbuf) && like_buffers(a.recvbuf, b.recvbuf) &&
         (a.sendbuf == a.recvbuf) == (b.sendbuf == b.recvbuf);
}

/// Calls the MPI library's own collective through PMPI_. Counts beyond int need an MPI with large-count
/// bindings; without them MPI_ERR_COUNT is returned.
[[nodiscard]] int call_native(const Call& call);
/// Likewise its nonblocking call, and the one that makes a persistent request, where the library has that; else
/// MPI_ERR_UNSUPPORTED_OPERATION.
[[nodiscard]] int start_native(const Call& call, MPI_Request* request);
[[nodiscard]] int init_native(const Call& call, MPI_Info info, MPI_Request* request);

}  // namespace circoll::mpi
