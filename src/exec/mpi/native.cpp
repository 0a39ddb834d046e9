#include <limits>
#include <vector>

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
      return PMPI_Gatherv(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcounts, displs, c.recvtype, c.root, c.comm);
    case Collective::scatter:
      return PMPI_Scatter(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::scatterv:
      return PMPI_Scatterv(c.sendbuf, sendcounts, displs, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
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

/// 64-bit counts as int, for an MPI without large-count bindings; false if one does not fit.
bool narrow(const CountArray& wide, std::vector<int>& values, Rank size) {
  if (!wide) return true;
  values.resize(static_cast<std::size_t>(size));
  for (Rank i = 0; i < size; ++i) {
    if (!fits_int(wide[i])) return false;
    values[static_cast<std::size_t>(i)] = static_cast<int>(wide[i]);
  }
  return true;
}

int call_narrowed(const Call& call) {
  int size = 0, inter = 0;
  int rc = PMPI_Comm_test_inter(call.comm, &inter);
  if (rc == MPI_SUCCESS) rc = inter != 0 ? PMPI_Comm_remote_size(call.comm, &size) : PMPI_Comm_size(call.comm, &size);
  if (rc != MPI_SUCCESS) return rc;
  std::vector<int> sendcounts, recvcounts, displs;
  if (!fits_int(call.sendcount) || !fits_int(call.recvcount) || !narrow(call.sendcounts, sendcounts, size) ||
      !narrow(call.recvcounts, recvcounts, size) || !narrow(call.displs, displs, size)) {
    return MPI_ERR_COUNT;
  }
  Call classic = call;
  if (call.sendcounts) classic.sendcounts = sendcounts.data();
  if (call.recvcounts) classic.recvcounts = recvcounts.data();
  if (call.displs) classic.displs = displs.data();
  return call_classic(classic);
}

}  // namespace

int call_native(const Call& call) {
  const bool wide = call.sendcounts.is_wide() || call.recvcounts.is_wide() || call.displs.is_wide();
  if (!wide && fits_int(call.sendcount) && fits_int(call.recvcount)) return call_classic(call);
#if MPI_VERSION >= 4
  // The arrays of one call must have one width.
  const bool narrow_array = (call.sendcounts && !call.sendcounts.is_wide()) ||
                            (call.recvcounts && !call.recvcounts.is_wide()) || (call.displs && !call.displs.is_wide());
  if (!narrow_array) return call_large(call);
#endif
  return call_narrowed(call);
}

}  // namespace circoll::mpi
