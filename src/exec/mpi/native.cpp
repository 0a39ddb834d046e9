#include <array>
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
  const auto* senddispls = static_cast<const int*>(c.senddispls.data());
  const auto* recvdispls = static_cast<const int*>(c.recvdispls.data());
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
      return PMPI_Allgatherv(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcounts, recvdispls, c.recvtype, c.comm);
    case Collective::gather:
      return PMPI_Gather(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::gatherv:
      return PMPI_Gatherv(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcounts, recvdispls, c.recvtype, c.root,
                          c.comm);
    case Collective::scatter:
      return PMPI_Scatter(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::scatterv:
      return PMPI_Scatterv(c.sendbuf, sendcounts, senddispls, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root,
                           c.comm);
    case Collective::bcast:
      return PMPI_Bcast(c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::alltoall:
      return PMPI_Alltoall(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.comm);
    case Collective::alltoallv:
      return PMPI_Alltoallv(c.sendbuf, sendcounts, senddispls, c.sendtype, c.recvbuf, recvcounts, recvdispls,
                            c.recvtype, c.comm);
    case Collective::scan:
      return PMPI_Scan(c.sendbuf, c.recvbuf, sendcount, c.sendtype, c.op, c.comm);
    case Collective::exscan:
      return PMPI_Exscan(c.sendbuf, c.recvbuf, sendcount, c.sendtype, c.op, c.comm);
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
  const auto* senddispls = static_cast<const MPI_Aint*>(c.senddispls.data());
  const auto* recvdispls = static_cast<const MPI_Aint*>(c.recvdispls.data());
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
      return PMPI_Allgatherv_c(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcounts, recvdispls, c.recvtype, c.comm);
    case Collective::gather:
      return PMPI_Gather_c(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::gatherv:
      return PMPI_Gatherv_c(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcounts, recvdispls, c.recvtype, c.root,
                            c.comm);
    case Collective::scatter:
      return PMPI_Scatter_c(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::scatterv:
      return PMPI_Scatterv_c(c.sendbuf, sendcounts, senddispls, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.root,
                             c.comm);
    case Collective::bcast:
      return PMPI_Bcast_c(c.recvbuf, recvcount, c.recvtype, c.root, c.comm);
    case Collective::alltoall:
      return PMPI_Alltoall_c(c.sendbuf, sendcount, c.sendtype, c.recvbuf, recvcount, c.recvtype, c.comm);
    case Collective::alltoallv:
      return PMPI_Alltoallv_c(c.sendbuf, sendcounts, senddispls, c.sendtype, c.recvbuf, recvcounts, recvdispls,
                              c.recvtype, c.comm);
    case Collective::scan:
      return PMPI_Scan_c(c.sendbuf, c.recvbuf, sendcount, c.sendtype, c.op, c.comm);
    case Collective::exscan:
      return PMPI_Exscan_c(c.sendbuf, c.recvbuf, sendcount, c.sendtype, c.op, c.comm);
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

/// The arrays of a call.
constexpr std::array arrays{&Call::sendcounts, &Call::recvcounts, &Call::senddispls, &Call::recvdispls};

int call_narrowed(const Call& call) {
  int size = 0, inter = 0;
  int rc = PMPI_Comm_test_inter(call.comm, &inter);
  if (rc == MPI_SUCCESS) rc = inter != 0 ? PMPI_Comm_remote_size(call.comm, &size) : PMPI_Comm_size(call.comm, &size);
  if (rc != MPI_SUCCESS) return rc;
  if (!fits_int(call.sendcount) || !fits_int(call.recvcount)) return MPI_ERR_COUNT;
  Call classic = call;
  std::array<std::vector<int>, arrays.size()> narrowed;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!narrow(call.*arrays[i], narrowed[i], size)) return MPI_ERR_COUNT;
    if (call.*arrays[i]) classic.*arrays[i] = narrowed[i].data();
  }
  return call_classic(classic);
}

/// What MPI_IN_PLACE makes insignificant is not read, not even to narrow it.
Call significant(const Call& call) {
  Call c = call;
  if (c.collective == Collective::alltoallv && c.sendbuf == MPI_IN_PLACE) {
    c.sendcounts = {};
    c.senddispls = {};
  }
  return c;
}

}  // namespace

int call_native(const Call& call) {
  const Call c = significant(call);
  bool wide = false;
  [[maybe_unused]] bool narrow_array = false;
  for (const auto& array : arrays) {
    wide = wide || (c.*array).is_wide();
    narrow_array = narrow_array || ((c.*array) && !(c.*array).is_wide());
  }
  if (!wide && fits_int(c.sendcount) && fits_int(c.recvcount)) return call_classic(c);
#if MPI_VERSION >= 4
  if (!narrow_array) return call_large(c);  // the arrays of one call must have one width
#endif
  return call_narrowed(c);
}

}  // namespace circoll::mpi
