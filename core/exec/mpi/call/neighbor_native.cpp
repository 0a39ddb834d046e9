// The library's own collectives among neighbours, for the API. The drop-in has the program's arguments as they are.
#include <algorithm>
#include <string>
#include <utility>

#include "circoll/error.hpp"
#include "exec/mpi/call/neighbor_call.hpp"
#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {
namespace {

int as_int(Count number) {
  if (!std::in_range<int>(number))
    throw Error(ErrorCode::unsupported, std::to_string(number) + " is too large for the MPI library's own collective");
  return static_cast<int>(number);
}

/// MPI's functions want an address where there are no neighbours, too.
const int* as_ints(const Counts& numbers, int entries, std::vector<int>& kept) {
  kept.assign(1, 0);
  if (!numbers) return kept.data();
  kept.resize(static_cast<std::size_t>(std::max(entries, 1)));
  for (int i = 0; i < entries; ++i) kept[static_cast<std::size_t>(i)] = as_int(numbers[i]);
  return kept.data();
}

/// Calls `functions`, of which each takes the arguments of a function of MPI, and then `tail`.
template <typename Allgather, typename Allgatherv, typename Alltoallv, typename... Tail>
int call_by(const NeighborCall& c, NeighborArrays& arrays, Allgather allgather, Allgatherv allgatherv,
            Allgather alltoall, Alltoallv alltoallv, Tail... tail) {
  // NOLINTBEGIN(misc-misplaced-const): MPI_Datatype may be a pointer
  const auto& [given, sendcount, sendtype, sendcounts, senddispls, sendtypes] = c.send;
  const auto& [buffer, recvcount, recvtype, recvcounts, recvdispls, recvtypes] = c.recv;
  // NOLINTEND(misc-misplaced-const)
  const int sends = neighbor_blocks(c.comm, true), receives = neighbor_blocks(c.comm, false);
  const int* const scounts = as_ints(sendcounts, sends, arrays[0]);
  const int* const sdispls = as_ints(senddispls, sends, arrays[1]);
  const int* const rcounts = as_ints(recvcounts, receives, arrays[2]);
  const int* const rdispls = as_ints(recvdispls, receives, arrays[3]);
  const void* const sendbuf = sends == 0 && given == nullptr ? arrays[0].data() : given;
  void* const recvbuf = receives == 0 && buffer == nullptr ? arrays[2].data() : const_cast<void*>(buffer);
  switch (c.function) {
    case NeighborFunction::allgather:
      return allgather(sendbuf, as_int(sendcount), sendtype, recvbuf, as_int(recvcount), recvtype, c.comm, tail...);
    case NeighborFunction::allgatherv:
      return allgatherv(sendbuf, as_int(sendcount), sendtype, recvbuf, rcounts, rdispls, recvtype, c.comm, tail...);
    case NeighborFunction::alltoall:
      return alltoall(sendbuf, as_int(sendcount), sendtype, recvbuf, as_int(recvcount), recvtype, c.comm, tail...);
    case NeighborFunction::alltoallv:
      return alltoallv(sendbuf, scounts, sdispls, sendtype, recvbuf, rcounts, rdispls, recvtype, c.comm, tail...);
    case NeighborFunction::alltoallw:
      break;
  }
  return MPI_ERR_INTERN;
}

}  // namespace

int call_native(const NeighborCall& call, NeighborArrays& arrays) {
  return call_by(call, arrays, PMPI_Neighbor_allgather, PMPI_Neighbor_allgatherv, PMPI_Neighbor_alltoall,
                 PMPI_Neighbor_alltoallv);
}

int start_native(const NeighborCall& call, NeighborArrays& arrays, MPI_Request* request) {
  return call_by(call, arrays, PMPI_Ineighbor_allgather, PMPI_Ineighbor_allgatherv, PMPI_Ineighbor_alltoall,
                 PMPI_Ineighbor_alltoallv, request);
}

int init_native([[maybe_unused]] const NeighborCall& call, [[maybe_unused]] NeighborArrays& arrays,
                [[maybe_unused]] MPI_Request* request) {
#if CIRCOLL_HAS_PERSISTENT
  return call_by(call, arrays, CIRCOLL_INIT(P, Neighbor_allgather), CIRCOLL_INIT(P, Neighbor_allgatherv),
                 CIRCOLL_INIT(P, Neighbor_alltoall), CIRCOLL_INIT(P, Neighbor_alltoallv), MPI_INFO_NULL, request);
#else
  return MPI_ERR_UNSUPPORTED_OPERATION;
#endif
}

}  // namespace circoll::mpi
