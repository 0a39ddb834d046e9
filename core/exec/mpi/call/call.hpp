// One call of an MPI collective, with the arguments of MPI's own function, in one struct for all collectives. Questions
// about its arguments, and the MPI library's own calls.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>

#include "circoll/mpi.hpp"
#include "facts/called_collective.hpp"

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
  /// MPI_Alltoallw is an alltoallv whose blocks have a datatype each, in place of sendtype and recvtype. Displacements
  /// are in bytes then.
  const MPI_Datatype* sendtypes = nullptr;
  const MPI_Datatype* recvtypes = nullptr;
  bool has_types = false;  ///< it is such a call
};

[[nodiscard]] inline CalledCollective called(const Call& call) {
  return call.has_types ? CalledCollective::alltoallw() : CalledCollective(call.collective);
}

/// The arrays of counts and displacements that are significant at a rank: sent, and received. Others are null here, and
/// may be anything in the call. `rank` is that in the communicator, as in what follows.
[[nodiscard]] std::array<CountArray, 4> arrays_of(const Call& call, Rank rank);
/// The datatypes of blocks, sent and received, where they have one each. Null where they are not significant.
[[nodiscard]] std::array<const MPI_Datatype*, 2> types_of(const Call& call);
/// True if two calls of one shape have the same numbers and handles in their arrays. O(p).
[[nodiscard]] bool same_arrays(const Call& a, const Call& b, Rank rank, Rank size);
/// Of the numbers and handles in the arrays. O(p).
[[nodiscard]] std::uint64_t hash_of_arrays(const Call& call, Rank rank, Rank size);

/// Calls with arrays are remembered on communicators of so many ranks. On larger ones they are worth the time less, and
/// take more memory.
inline constexpr Rank most_ranks_with_known_arrays = 256;

/// The properties that two calls on one communicator share if they differ in the addresses of their buffers only.
/// Special values in place of an address (MPI_IN_PLACE, MPI_BOTTOM), and equal buffers, make a difference. Arrays have
/// a hash here, and same_arrays() compares them.
struct CallShape {
  Count sendcount = 0;
  Count recvcount = 0;
  MPI_Datatype sendtype = MPI_DATATYPE_NULL;
  MPI_Datatype recvtype = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  Collective collective = Collective::barrier;
  std::uint8_t buffers = 0;  ///< two bits for what stands for each of them, one for their being the same, one for types
  std::uint64_t arrays = 0;  ///< their hash, if calls with arrays are remembered

  CallShape() = default;
  CallShape(const Call& call, Rank rank, Rank size)
      : sendcount(call.sendcount),
        recvcount(call.recvcount),
        sendtype(call.sendtype),
        recvtype(call.recvtype),
        op(call.op),
        root(call.root),
        collective(call.collective),
        buffers(static_cast<std::uint8_t>(kind(call.sendbuf) | kind(call.recvbuf) << 2 |
                                          (call.sendbuf == call.recvbuf ? 1 : 0) << 4 |
                                          (call.has_types ? 1 : 0) << 5)) {
    if (is_irregular(collective) && size <= most_ranks_with_known_arrays) arrays = hash_of_arrays(call, rank, size);
  }
  friend bool operator==(const CallShape&, const CallShape&) = default;
  /// Fibonacci hashing of the values that differ among the calls of a program. Its high bits are good.
  [[nodiscard]] std::uint64_t hash() const {
    const auto counts = static_cast<std::uint64_t>(sendcount) + static_cast<std::uint64_t>(recvcount) + arrays;
    const auto key = (counts * all_collectives.size() + static_cast<std::uint64_t>(collective)) * 31 +
                     static_cast<std::uint64_t>(root);
    return key * 0x9e3779b97f4a7c15ULL;
  }

 private:
  static int kind(const void* buffer) {
    if (buffer == nullptr) return 0;
    if (buffer == MPI_BOTTOM) return 1;
    return buffer == MPI_IN_PLACE ? 2 : 3;
  }
};

/// Calls the MPI library's own collective through PMPI_. Counts beyond int need an MPI with large-count
/// bindings; without them MPI_ERR_COUNT is returned.
[[nodiscard]] int call_native(const Call& call);
/// Likewise for its nonblocking call, and for the one that makes a persistent request. Where the library has no such
/// call, MPI_ERR_UNSUPPORTED_OPERATION is returned.
[[nodiscard]] int start_native(const Call& call, MPI_Request* request);
[[nodiscard]] int init_native(const Call& call, MPI_Info info, MPI_Request* request);

/// The packed bytes of this rank's contribution or block, as CallerBuffers::own_bytes counts them, of a call that has
/// succeeded. They are 0 on an intercommunicator. Reads arguments only; allocates for a datatype that is new.
[[nodiscard]] Count described_bytes(const Call& call) noexcept;

/// True if the processor should not touch a buffer of the call at this rank. It looks only at buffers that are
/// significant here and have elements. It takes a buffer for one allocation, and asks about its first and its last
/// byte. Where a runtime is loaded, absolute addresses of several pieces count as a device's. Arguments may be
/// erroneous.
[[nodiscard]] bool has_device_buffer(const Call& call, Rank rank, Rank size);

/// Throws Error(invalid_argument) about a call whose arguments are known to be erroneous. It describes the mistake in
/// words, for callers of the API; the drop-in leaves that to the MPI library.
[[noreturn]] void refuse_arguments(const Call& call);

/// Throws Error(invalid_argument) if arguments are erroneous as far as this rank can see. On an intercommunicator only
/// the MPI library can see it.
void require_valid(const Call& call);

/// Makes MPI return the errors of a communicator where they would end the job. A handler of the user's is called
/// nevertheless. If the communicator is MPI_COMM_WORLD, MPI meanwhile also returns other threads' errors that belong to
/// no communicator.
class ReturnedErrors {
 public:
  explicit ReturnedErrors(MPI_Comm comm);
  ~ReturnedErrors();
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
  bool changed_ = false;
};

}  // namespace circoll::mpi
