// The library's own collectives among neighbours, for the API. The drop-in has the program's arguments as they are.
#include <algorithm>
#include <string>
#include <utility>

#include "circoll/error.hpp"
#include "exec/mpi/call/datatype.hpp"
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
template <typename Number, typename Convert>
const Number* convert(const Counts& numbers, int entries, std::vector<Number>& kept, const Convert& as_number) {
  kept.assign(static_cast<std::size_t>(std::max(entries, 1)), Number{});
  for (int i = 0; numbers && i < entries; ++i) kept[static_cast<std::size_t>(i)] = as_number(numbers[i]);
  return kept.data();
}

const int* as_ints(const Counts& numbers, int entries, std::vector<int>& kept) {
  return convert(numbers, entries, kept, as_int);
}

const MPI_Aint* as_addresses(const Counts& numbers, int entries, std::vector<MPI_Aint>& kept) {
  return convert(numbers, entries, kept, [](Count number) { return static_cast<MPI_Aint>(number); });
}

/// The array may be NULL where no neighbour is there.
const MPI_Datatype* keep_types(const NeighborArguments& side, int entries, std::vector<MPI_Datatype>& kept) {
  kept.assign(static_cast<std::size_t>(std::max(entries, 1)), MPI_BYTE);
  for (int i = 0; side.counts && side.types != nullptr && i < entries; ++i)
    kept[static_cast<std::size_t>(i)] = type_of_block(side.types, i, side.counts[i]);
  return kept.data();
}

/// Calls `functions`, of which each takes the arguments of a function of MPI, and then `tail`.
template <typename Allgather, typename Allgatherv, typename Alltoallv, typename Alltoallw, typename... Tail>
int call_by(const NeighborCall& c, NeighborArrays& arrays, Allgather allgather, Allgatherv allgatherv,
            Allgather alltoall, Alltoallv alltoallv, Alltoallw alltoallw, Tail... tail) {
  // NOLINTBEGIN(misc-misplaced-const): MPI_Datatype may be a pointer
  const auto& [given, sendcount, sendtype, sendcounts, senddispls, sendtypes] = c.send;
  const auto& [buffer, recvcount, recvtype, recvcounts, recvdispls, recvtypes] = c.recv;
  // NOLINTEND(misc-misplaced-const)
  const int sends = neighbor_blocks(c.comm, true), receives = neighbor_blocks(c.comm, false);
  const int* const scounts = as_ints(sendcounts, sends, arrays.numbers[0]);
  const int* const rcounts = as_ints(recvcounts, receives, arrays.numbers[1]);
  const void* const sendbuf = sends == 0 && given == nullptr ? arrays.numbers[0].data() : given;
  void* const recvbuf = receives == 0 && buffer == nullptr ? arrays.numbers[1].data() : const_cast<void*>(buffer);
  if (c.function == NeighborFunction::alltoallw) {
    return alltoallw(sendbuf, scounts, as_addresses(senddispls, sends, arrays.displs[0]),
                     keep_types(c.send, sends, arrays.types[0]), recvbuf, rcounts,
                     as_addresses(recvdispls, receives, arrays.displs[1]),
                     keep_types(c.recv, receives, arrays.types[1]), c.comm, tail...);
  }
  const int* const sdispls = as_ints(senddispls, sends, arrays.numbers[2]);
  const int* const rdispls = as_ints(recvdispls, receives, arrays.numbers[3]);
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
                 PMPI_Neighbor_alltoallv, PMPI_Neighbor_alltoallw);
}

int start_native(const NeighborCall& call, NeighborArrays& arrays, MPI_Request* request) {
  return call_by(call, arrays, PMPI_Ineighbor_allgather, PMPI_Ineighbor_allgatherv, PMPI_Ineighbor_alltoall,
                 PMPI_Ineighbor_alltoallv, PMPI_Ineighbor_alltoallw, request);
}

int init_native([[maybe_unused]] const NeighborCall& call, [[maybe_unused]] NeighborArrays& arrays,
                [[maybe_unused]] MPI_Request* request) {
#if CIRCOLL_HAS_PERSISTENT
  return call_by(call, arrays, CIRCOLL_INIT(P, Neighbor_allgather), CIRCOLL_INIT(P, Neighbor_allgatherv),
                 CIRCOLL_INIT(P, Neighbor_alltoall), CIRCOLL_INIT(P, Neighbor_alltoallv),
                 CIRCOLL_INIT(P, Neighbor_alltoallw), MPI_INFO_NULL, request);
#else
  return MPI_ERR_UNSUPPORTED_OPERATION;
#endif
}

}  // namespace circoll::mpi
