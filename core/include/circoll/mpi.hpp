// Collectives over MPI. This header includes <mpi.h>; link circoll::openmpi or circoll::mpich.
//
//   std::vector<double> mine(1000, 1.0), sum(1000);
//   circoll::allreduce(mine, sum, circoll::Op::sum, MPI_COMM_WORLD);                      // typed
//   circoll::mpi::allreduce(a, b, 1000, MPI_DOUBLE, MPI_SUM, comm, "circulant_optimal");  // with MPI's arguments
//
// The typed calls are those of circoll/comm.hpp, circoll/values.hpp, circoll/neighbors.hpp and circoll/exchange.hpp.
// Operators are MPI_Op, Op, or callables. An exception of a callable is thrown again when the call has ended on its
// rank. The results of all ranks are undefined.
//
// Calls are collective: all ranks of the communicator make the same ones in the same order, with matching
// arguments and the same choice. Messages go through a private communicator that the first call on a
// communicator makes and MPI_Comm_free (or MPI_Finalize) frees. Choices: "auto" (default), "native", "name"
// or "name:parameter=value" of an algorithm of the collective, or a Selection.
//
// Errors:
//   Error(invalid_argument)     erroneous arguments, by every choice, as far as this rank can see (a bad root, a
//                               negative count, a null handle or buffer, too small a buffer)
//   Error(unknown_name, parse)  a bad choice
//   Error(unsupported)          the chosen algorithm cannot serve the call
//   MpiError                    MPI reports an error, whose code it has
// None of them ends the job. Where the native collective finds a call wrong, the communicator's error handler is called
// if it is the user's own, but neither MPI_ERRORS_ARE_FATAL nor MPI_ERRORS_ABORT. There is one exception: a native call
// that went well before with the same arguments may fail because of other ranks or the network. Then the error handler
// is called, whichever it is.
//
// A communicator may be used by one thread at a time; different ones by different threads (MPI_THREAD_MULTIPLE).
#pragma once

#include <mpi.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "circoll/buffers.hpp"
#include "circoll/call.hpp"
#include "circoll/comm.hpp"
#include "circoll/error.hpp"
#include "circoll/exchange.hpp"
#include "circoll/neighbors.hpp"
#include "circoll/request.hpp"
#include "circoll/types.hpp"
#include "circoll/values.hpp"

namespace circoll {

/// An error that MPI reported.
class MpiError : public Error {
 public:
  explicit MpiError(int mpi_code);  ///< with the text of MPI_Error_string
  /// MPI's error code, for MPI_Error_string and MPI_Error_class.
  [[nodiscard]] int mpi_code() const noexcept { return mpi_code_; }

 private:
  int mpi_code_;
};

}  // namespace circoll

namespace circoll::mpi {

using circoll::Counts;

// The arguments of MPI's own calls, in their order, with 64-bit counts; then what shall serve the call.
void allreduce(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
               const Choice& choice = {});
void reduce(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
            const Choice& choice = {});
void reduce_scatter_block(const void* sendbuf, void* recvbuf, Count recvcount, MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm, const Choice& choice = {});
void reduce_scatter(const void* sendbuf, void* recvbuf, const Counts& recvcounts, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, const Choice& choice = {});
void allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
               MPI_Datatype recvtype, MPI_Comm comm, const Choice& choice = {});
void allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, const Counts& recvcounts,
                const Counts& displs, MPI_Datatype recvtype, MPI_Comm comm, const Choice& choice = {});
void gather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
            MPI_Datatype recvtype, int root, MPI_Comm comm, const Choice& choice = {});
void gatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, const Counts& recvcounts,
             const Counts& displs, MPI_Datatype recvtype, int root, MPI_Comm comm, const Choice& choice = {});
void scatter(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
             MPI_Datatype recvtype, int root, MPI_Comm comm, const Choice& choice = {});
void scatterv(const void* sendbuf, const Counts& sendcounts, const Counts& displs, MPI_Datatype sendtype, void* recvbuf,
              Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, const Choice& choice = {});
void alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
              MPI_Datatype recvtype, MPI_Comm comm, const Choice& choice = {});
/// In place (sendbuf is MPI_IN_PLACE) sendcounts, sdispls and sendtype are ignored.
void alltoallv(const void* sendbuf, const Counts& sendcounts, const Counts& sdispls, MPI_Datatype sendtype,
               void* recvbuf, const Counts& recvcounts, const Counts& rdispls, MPI_Datatype recvtype, MPI_Comm comm,
               const Choice& choice = {});
/// A datatype for each block, which is not read where the count is zero. Displacements are in bytes. The choice is that
/// of an alltoallv. In place sendcounts, sdispls and sendtypes are ignored.
void alltoallw(const void* sendbuf, const Counts& sendcounts, const Counts& sdispls, const MPI_Datatype* sendtypes,
               void* recvbuf, const Counts& recvcounts, const Counts& rdispls, const MPI_Datatype* recvtypes,
               MPI_Comm comm, const Choice& choice = {});
void scan(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
          const Choice& choice = {});
/// At rank 0 recvbuf is not touched.
void exscan(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
            const Choice& choice = {});
void bcast(void* buffer, Count count, MPI_Datatype datatype, int root, MPI_Comm comm, const Choice& choice = {});
void barrier(MPI_Comm comm, const Choice& choice = {});

// Among neighbours (circoll/neighbors.hpp). The choice is "auto", "direct", "node_aware" or "native".
void neighbor_allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, const Choice& choice = {});
void neighbor_allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const Counts& recvcounts, const Counts& displs, MPI_Datatype recvtype, MPI_Comm comm,
                         const Choice& choice = {});
void neighbor_alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, const Choice& choice = {});
void neighbor_alltoallv(const void* sendbuf, const Counts& sendcounts, const Counts& sdispls, MPI_Datatype sendtype,
                        void* recvbuf, const Counts& recvcounts, const Counts& rdispls, MPI_Datatype recvtype,
                        MPI_Comm comm, const Choice& choice = {});
/// Displacements are in bytes.
void neighbor_alltoallw(const void* sendbuf, const Counts& sendcounts, const Counts& sdispls,
                        const MPI_Datatype* sendtypes, void* recvbuf, const Counts& recvcounts, const Counts& rdispls,
                        const MPI_Datatype* recvtypes, MPI_Comm comm, const Choice& choice = {});

/// MPI's datatype for an element type. Throws Error(unsupported) if this MPI has none (float16).
[[nodiscard]] MPI_Datatype datatype_of(Type type);
/// MPI's operator.
[[nodiscard]] MPI_Op op_of(Op op);

/// A predefined operator by our name or MPI's, a user's operator made by MPI_Op_create, or a UserOperator.
class AnyOp {
 public:
  AnyOp(Op op) : op_(op_of(op)) {}                   // NOLINT(google-explicit-constructor)
  AnyOp(MPI_Op op) : op_(op) {}                      // NOLINT(google-explicit-constructor)
  AnyOp(const UserOperator& user) : user_(&user) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] MPI_Op get() const { return op_; }   ///< the handle to hand to MPI; MPI_OP_NULL of a UserOperator
  [[nodiscard]] const UserOperator* user() const { return user_; }  ///< nullptr: it is a handle

 private:
  MPI_Op op_ = MPI_OP_NULL;
  const UserOperator* user_ = nullptr;
};

/// The rank of this process, and the number of processes. Throw Error(invalid_argument) about MPI_COMM_NULL.
[[nodiscard]] Rank rank_of(MPI_Comm comm);
[[nodiscard]] Rank size_of(MPI_Comm comm);
/// The blocks of collectives among neighbours. Throws Error(invalid_argument) if the communicator has no topology.
[[nodiscard]] NeighborCounts neighbors_of(MPI_Comm comm);

/// Executes a typed call. `op` is ignored where the collective has none, or where CollectiveCall::op is a UserOperator.
/// At most 256 calls with a UserOperator may be under way or persistent (Error(unsupported)).
void execute(const CollectiveCall& call, MPI_Op op, MPI_Comm comm, const Choice& choice = {});
/// The same without waiting. Nonblocking calls advance in wait() and test() of any request. A blocking call through
/// this API waits for those of its communicator first. Wrong arguments and choices throw here, other errors come from
/// the request. A named algorithm cannot serve the first call on a communicator whose ranks must agree first
/// (Error(unsupported)). Where the native collective fails after it has begun, the error handler has its way.
[[nodiscard]] Request begin(const CollectiveCall& call, MPI_Op op, MPI_Comm comm, const Choice& choice = {});
/// An inactive request for a persistent call. The communicator must not be freed before it.
[[nodiscard]] Request init(const CollectiveCall& call, MPI_Op op, MPI_Comm comm, const Choice& choice = {});

/// Begins a sparse exchange (circoll/exchange.hpp). The first one on a communicator waits for the other ranks. Throws
/// Error(invalid_argument) if a message is for no rank, or two are for one; this rank has sent nothing then. Throws
/// Error(unsupported) on all ranks if MPI has no private communicator left for the first one.
[[nodiscard]] Request begin_exchange(std::vector<ExchangeMessage> sent, ExchangePlace place, MPI_Comm comm,
                                     ExchangeBy by = ExchangeBy::consensus);

}  // namespace circoll::mpi

namespace circoll {

/// The calls of circoll/comm.hpp over MPI. Elements of other types than MPI predefines travel as bytes.
template <>
struct CommunicatorTraits<MPI_Comm> {
  using Reference = MPI_Comm;
  using Operator = mpi::AnyOp;
  using Result = void;
  static Rank rank(MPI_Comm comm) { return mpi::rank_of(comm); }
  static Rank size(MPI_Comm comm) { return mpi::size_of(comm); }
  static NeighborCounts neighbors(MPI_Comm comm) { return mpi::neighbors_of(comm); }
  static Request exchange(MPI_Comm comm, std::vector<ExchangeMessage> sent, ExchangePlace place, ExchangeBy by) {
    return mpi::begin_exchange(std::move(sent), std::move(place), comm, by);
  }
  static void execute(MPI_Comm comm, CollectiveCall& call, const Operator* op, const Choice& choice) {
    mpi::execute(call, handle(call, op), comm, choice);
  }
  static Request begin(MPI_Comm comm, CollectiveCall& call, const Operator* op, const Choice& choice) {
    return mpi::begin(call, handle(call, op), comm, choice);
  }
  static Request init(MPI_Comm comm, CollectiveCall& call, const Operator* op, const Choice& choice) {
    return mpi::init(call, handle(call, op), comm, choice);
  }

 private:
  static MPI_Op handle(CollectiveCall& call, const Operator* op) {
    if (op == nullptr) return MPI_OP_NULL;
    if (op->user() != nullptr) call.op = *op->user();
    return op->get();
  }
};

/// Classes that are communicators, as those of Boost.MPI and of the programs' own.
template <typename C>
requires(std::is_class_v<C>&& std::is_convertible_v<const C&, MPI_Comm>) struct CommunicatorTraits<C>
    : CommunicatorTraits<MPI_Comm> {
};

}  // namespace circoll
