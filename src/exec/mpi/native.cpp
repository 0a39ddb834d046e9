#include <limits>

#include "exec/mpi/call.hpp"

namespace circoll::mpi {
namespace {

bool fits_int(Count count) {
  return count >= std::numeric_limits<int>::min() && count <= std::numeric_limits<int>::max();
}

int call_classic(const Call& c) {
  const auto sendcount = static_cast<int>(c.sendcount);
  const auto recvcount = static_cast<int>(c.recvcount);
  const auto* sendcounts = static_cast<const int*>(c.sendcounts.data());
  const auto* recvcounts = static_cast<const int*>(c.recvcounts.data());
  const auto* displs = static_cast<const int*>(c.displs.data());
  switch (c.collective) {
    case Collective::allreduce:
      return PMPI_Allreduce(c.sendbuf, c.recvbuf, sendcount, c.sendtype, c.op, c.comm);
    case Collective::reduce:
      return PMPI_Reduce(c.sendbuf, c.recvbuf, sendcount, c.sendtype, c.op, c.root, c.comm);
    case Collective::reduce_scatter_block:
      return PMPI_Reduce_scatter_block(c.sendbuf, c.recvbuf, recvcount, c.sendtype, c.op, c.comm);
    case Collective::reduce_scatter:
      return PMPI_Reduce_scatter(c.sendbuf, c.recvbuf, recvcounts, c.sendtype, c.op, c.comm);
    case Collective::allgather:
      return PMPI_Allgather(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.comm);
    case Collective::allgatherv:
      return PMPI_Allgatherv(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcounts, displs, c.recvtype, c.comm);
    case Collective::gather:
      return PMPI_Gather(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::gatherv:
      return PMPI_Gatherv(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcounts, displs, c.recvtype, c.root,
                          c.comm);
    case Collective::scatter:
      return PMPI_Scatter(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::scatterv:
      return PMPI_Scatterv(c.sendbuf, sendcounts, displs, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root,
                           c.comm);
    case Collective::bcast:
      return PMPI_Bcast(c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::barrier:
      return PMPI_Barrier(c.comm);
  }
  return MPI_ERR_INTERN;
}

#if MPI_VERSION >= 4
int call_large(const Call& c) {
  const auto sendcount = static_cast<MPI_Count>(c.sendcount);
  const auto recvcount = static_cast<MPI_Count>(c.recvcount);
  const auto* sendcounts = static_cast<const MPI_Count*>(c.sendcounts.data());
  const auto* recvcounts = static_cast<const MPI_Count*>(c.recvcounts.data());
  const auto* displs = static_cast<const MPI_Aint*>(c.displs.data());
  switch (c.collective) {
    case Collective::allreduce:
      return PMPI_Allreduce_c(c.sendbuf, c.recvbuf, sendcount, c.sendtype, c.op, c.comm);
    case Collective::reduce:
      return PMPI_Reduce_c(c.sendbuf, c.recvbuf, sendcount, c.sendtype, c.op, c.root, c.comm);
    case Collective::reduce_scatter_block:
      return PMPI_Reduce_scatter_block_c(c.sendbuf, c.recvbuf, recvcount, c.sendtype, c.op, c.comm);
    case Collective::reduce_scatter:
      return PMPI_Reduce_scatter_c(c.sendbuf, c.recvbuf, recvcounts, c.sendtype, c.op, c.comm);
    case Collective::allgather:
      return PMPI_Allgather_c(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.comm);
    case Collective::allgatherv:
      return PMPI_Allgatherv_c(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcounts, displs, c.recvtype, c.comm);
    case Collective::gather:
      return PMPI_Gather_c(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::gatherv:
      return PMPI_Gatherv_c(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcounts, displs, c.recvtype, c.root,
                            c.comm);
    case Collective::scatter:
      return PMPI_Scatter_c(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::scatterv:
      return PMPI_Scatterv_c(c.sendbuf, sendcounts, displs, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root,
                             c.comm);
    case Collective::bcast:
      return PMPI_Bcast_c(c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::barrier:
      return PMPI_Barrier(c.comm);
  }
  return MPI_ERR_INTERN;
}
#endif

}  // namespace

int call_native(const Call& call) {
  const bool wide = call.sendcounts.is_wide() || call.recvcounts.is_wide() || call.displs.is_wide();
  if (!wide && fits_int(call.sendcount) && fits_int(call.recvcount)) return call_classic(call);
#if MPI_VERSION >= 4
  return call_large(call);
#else
  return MPI_ERR_COUNT;
#endif
}

}  // namespace circoll::mpi
