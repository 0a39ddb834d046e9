// Collectives over MPI. The only header that includes <mpi.h>; link circoll::openmpi or circoll::mpich.
//
//   std::vector<double> mine(1000, 1.0), sum(1000);
//   circoll::allreduce(mine, sum, circoll::Op::sum, MPI_COMM_WORLD);                     // typed: circoll::
//   circoll::mpi::allreduce(a, b, 1000, MPI_DOUBLE, MPI_SUM, comm, "circulant_optimal");  // as MPI:
//   circoll::mpi::
//
// Calls are collective: all ranks of the communicator make the same ones in the same order, with matching
// arguments and the same choice. Messages go through a private communicator that the first call on a
// communicator makes and MPI_Comm_free (or MPI_Finalize) frees. Choices: "auto" (default), "native", "name"
// or "name:parameter=value" of an algorithm of the collective, or a Selection.
//
// Errors: Error(invalid_argument) if arguments are erroneous as far as this rank can see (a bad root, a negative
// count, a null handle or buffer, too small a buffer), by every choice; Error(unknown_name, parse) for a bad choice;
// Error(unsupported) if the chosen algorithm cannot serve the call; MpiError with MPI's error code if MPI reports one.
// None of them ends the job: where the native collective finds a call wrong, the communicator's error handler is
// called if it is the user's own, but neither MPI_ERRORS_ARE_FATAL nor MPI_ERRORS_ABORT. A native call that went well
// before with the same arguments is not guarded in this way: if it fails now, for what other ranks or the network do,
// the error handler has its way.
//
// A communicator may be used by one thread at a time; different ones by different threads
// (MPI_THREAD_MULTIPLE).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <ranges>
#include <span>
#include <type_traits>

#include "circoll/buffers.hpp"
#include "circoll/error.hpp"
#include "circoll/types.hpp"

namespace circoll {

/// An error that MPI reported.
class MpiError : public Error {
 public:
  explicit MpiError(int mpi_code);
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
void scan(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
          const Choice& choice = {});
/// At rank 0 recvbuf is not touched.
void exscan(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
            const Choice& choice = {});
void bcast(void* buffer, Count count, MPI_Datatype datatype, int root, MPI_Comm comm, const Choice& choice = {});
void barrier(MPI_Comm comm, const Choice& choice = {});

/// MPI's datatype for an element type. Throws Error(unsupported) if this MPI has none (float16).
[[nodiscard]] MPI_Datatype datatype_of(Type type);
/// MPI's operator.
[[nodiscard]] MPI_Op op_of(Op op);

/// A predefined operator by our name or MPI's, or a user's operator made by MPI_Op_create.
class AnyOp {
 public:
  AnyOp(Op op) : op_(op_of(op)) {}  // NOLINT(google-explicit-constructor)
  AnyOp(MPI_Op op) : op_(op) {}     // NOLINT(google-explicit-constructor)
  [[nodiscard]] MPI_Op get() const { return op_; }

 private:
  MPI_Op op_;
};

namespace detail {

template <typename Buffer>
concept Elements = std::ranges::contiguous_range<Buffer> && std::ranges::sized_range<Buffer> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Buffer>>;

/// A range of elements as (address, count, datatype); other trivially copyable types travel as bytes.
struct Typed {
  void* data = nullptr;
  Count count = 0;
  MPI_Datatype type = MPI_BYTE;
  Count bytes_each = 1;  ///< elements of `type` per element of the range
};

template <typename Buffer>
Typed typed(const Buffer& buffer) {
  using T = std::ranges::range_value_t<Buffer>;
  Typed t;
  t.data = const_cast<void*>(static_cast<const void*>(std::ranges::data(buffer)));
  t.count = static_cast<Count>(std::ranges::size(buffer));
  if constexpr (type_of<T>().has_value()) {
    t.type = datatype_of(*type_of<T>());
  } else {
    t.bytes_each = static_cast<Count>(sizeof(T));
    t.count *= t.bytes_each;
  }
  return t;
}

template <typename Send, typename Recv>
inline constexpr bool same_element = std::is_same_v<std::remove_cv_t<std::ranges::range_value_t<Send>>,
                                                    std::remove_cv_t<std::ranges::range_value_t<Recv>>>;

/// Address of a send range, or MPI_IN_PLACE; checks its size (in elements of the receive side's datatype).
template <typename Recv, typename Send>
const void* send_address(const Send& sendbuf, Count count) {
  if constexpr (std::is_same_v<Send, InPlace>) {
    return MPI_IN_PLACE;
  } else {
    static_assert(same_element<Send, Recv>, "send and receive buffers have different element types");
    const Typed send = typed(sendbuf);
    require(send.count >= count, "the send buffer is too small");
    return send.data;
  }
}

template <typename T>
void require_reducible() {
  static_assert(type_of<T>().has_value(), "reductions need an element type that MPI predefines");
}

[[nodiscard]] Rank size_of(MPI_Comm comm);
[[nodiscard]] Rank rank_of(MPI_Comm comm);
/// Elements up to the end of the last block; throws Error(invalid_argument) unless there are p counts.
[[nodiscard]] Count end_of(std::span<const Count> counts, std::span<const Count> displs, Rank size);

}  // namespace detail
}  // namespace circoll::mpi

// The typed API: contiguous ranges (vector, span, array) of trivially copyable elements; sendbuf may be
// in_place where MPI allows MPI_IN_PLACE. Sizes are checked; MPI's counts follow from them. Rooted
// collectives ignore the buffers that are not significant at a rank.
namespace circoll {

/// recvbuf = contributions of all ranks, combined; count = size of recvbuf.
template <typename Send, mpi::detail::Elements Recv>
void allreduce(const Send& sendbuf, Recv&& recvbuf, const mpi::AnyOp& op, MPI_Comm comm, const Choice& choice = {}) {
  mpi::detail::require_reducible<std::ranges::range_value_t<Recv>>();
  const mpi::detail::Typed recv = mpi::detail::typed(recvbuf);
  mpi::allreduce(mpi::detail::send_address<Recv>(sendbuf, recv.count), recv.data, recv.count, recv.type, op.get(), comm,
                 choice);
}

/// recvbuf at the root = contributions of all ranks, combined; count = size of sendbuf, in place: of recvbuf.
template <typename Send, mpi::detail::Elements Recv>
void reduce(const Send& sendbuf, Recv&& recvbuf, const mpi::AnyOp& op, int root, MPI_Comm comm,
            const Choice& choice = {}) {
  mpi::detail::require_reducible<std::ranges::range_value_t<Recv>>();
  const mpi::detail::Typed recv = mpi::detail::typed(recvbuf);
  Count count = recv.count;
  if constexpr (!std::is_same_v<Send, InPlace>) {
    count = mpi::detail::typed(sendbuf).count;
    require(mpi::detail::rank_of(comm) != root || recv.count >= count, "the receive buffer is too small");
  }
  mpi::reduce(mpi::detail::send_address<Recv>(sendbuf, count), recv.data, count, recv.type, op.get(), root, comm,
              choice);
}

/// recvbuf = block `rank` of the combined vectors of p blocks. In place: recvbuf holds the vector of p blocks
/// before, and the block at its begin afterwards.
template <typename Send, mpi::detail::Elements Recv>
void reduce_scatter_block(const Send& sendbuf, Recv&& recvbuf, const mpi::AnyOp& op, MPI_Comm comm,
                          const Choice& choice = {}) {
  mpi::detail::require_reducible<std::ranges::range_value_t<Recv>>();
  const mpi::detail::Typed recv = mpi::detail::typed(recvbuf);
  const Rank size = mpi::detail::size_of(comm);
  Count count = recv.count;
  if constexpr (std::is_same_v<Send, InPlace>) {
    require(count % size == 0, "the vector is not p blocks of equal size");
    count /= size;
  }
  mpi::reduce_scatter_block(mpi::detail::send_address<Recv>(sendbuf, count * size), recv.data, count, recv.type,
                            op.get(), comm, choice);
}

/// The same with counts[i] elements in block i.
template <typename Send, mpi::detail::Elements Recv>
void reduce_scatter(const Send& sendbuf, Recv&& recvbuf, std::span<const Count> counts, const mpi::AnyOp& op,
                    MPI_Comm comm, const Choice& choice = {}) {
  mpi::detail::require_reducible<std::ranges::range_value_t<Recv>>();
  const mpi::detail::Typed recv = mpi::detail::typed(recvbuf);
  const Count total = mpi::detail::end_of(counts, {}, mpi::detail::size_of(comm));
  const auto rank = static_cast<std::size_t>(mpi::detail::rank_of(comm));
  require(recv.count >= (std::is_same_v<Send, InPlace> ? total : counts[rank]), "the receive buffer is too small");
  mpi::reduce_scatter(mpi::detail::send_address<Recv>(sendbuf, total), recv.data, counts, recv.type, op.get(), comm,
                      choice);
}

/// recvbuf = the p contributions in the order of ranks; block = size of recvbuf / p.
template <typename Send, mpi::detail::Elements Recv>
void allgather(const Send& sendbuf, Recv&& recvbuf, MPI_Comm comm, const Choice& choice = {}) {
  const mpi::detail::Typed recv = mpi::detail::typed(recvbuf);
  const Rank size = mpi::detail::size_of(comm);
  require(recv.count % size == 0, "the vector is not p blocks of equal size");
  const Count block = recv.count / size;
  mpi::allgather(mpi::detail::send_address<Recv>(sendbuf, block), block, recv.type, recv.data, block, recv.type, comm,
                 choice);
}

/// The same with counts[i] elements from rank i, at displs[i]. Element types that MPI predefines.
template <typename Send, mpi::detail::Elements Recv>
void allgatherv(const Send& sendbuf, Recv&& recvbuf, std::span<const Count> counts, std::span<const Count> displs,
                MPI_Comm comm, const Choice& choice = {}) {
  mpi::detail::require_reducible<std::ranges::range_value_t<Recv>>();
  const mpi::detail::Typed recv = mpi::detail::typed(recvbuf);
  require(recv.count >= mpi::detail::end_of(counts, displs, mpi::detail::size_of(comm)),
          "the receive buffer is too small");
  const Count own = counts[static_cast<std::size_t>(mpi::detail::rank_of(comm))];
  mpi::allgatherv(mpi::detail::send_address<Recv>(sendbuf, own), own, recv.type, recv.data, counts, displs, recv.type,
                  comm, choice);
}

/// recvbuf at the root = the p contributions in the order of ranks; block = size of sendbuf, in place: of
/// recvbuf / p.
template <typename Send, mpi::detail::Elements Recv>
void gather(const Send& sendbuf, Recv&& recvbuf, int root, MPI_Comm comm, const Choice& choice = {}) {
  const mpi::detail::Typed recv = mpi::detail::typed(recvbuf);
  const Rank size = mpi::detail::size_of(comm);
  Count block = recv.count / size;
  if constexpr (!std::is_same_v<Send, InPlace>) block = mpi::detail::typed(sendbuf).count;
  require(mpi::detail::rank_of(comm) != root || recv.count >= block * size, "the receive buffer is too small");
  mpi::gather(mpi::detail::send_address<Recv>(sendbuf, block), block, recv.type, recv.data, block, recv.type, root,
              comm, choice);
}

/// The same with counts[i] elements from rank i, at displs[i]; both are needed at the root only.
template <typename Send, mpi::detail::Elements Recv>
void gatherv(const Send& sendbuf, Recv&& recvbuf, std::span<const Count> counts, std::span<const Count> displs,
             int root, MPI_Comm comm, const Choice& choice = {}) {
  mpi::detail::require_reducible<std::ranges::range_value_t<Recv>>();
  const mpi::detail::Typed recv = mpi::detail::typed(recvbuf);
  Count own = 0;
  if constexpr (!std::is_same_v<Send, InPlace>) own = mpi::detail::typed(sendbuf).count;
  if (mpi::detail::rank_of(comm) == root) {
    require(recv.count >= mpi::detail::end_of(counts, displs, mpi::detail::size_of(comm)),
            "the receive buffer is too small");
  }
  mpi::gatherv(mpi::detail::send_address<Recv>(sendbuf, own), own, recv.type, recv.data, counts, displs, recv.type,
               root, comm, choice);
}

/// recvbuf = block `rank` of the root's sendbuf of p blocks; block = size of recvbuf, in place: of sendbuf /
/// p.
template <mpi::detail::Elements Send, typename Recv>
void scatter(const Send& sendbuf, Recv&& recvbuf, int root, MPI_Comm comm, const Choice& choice = {}) {
  const mpi::detail::Typed send = mpi::detail::typed(sendbuf);
  const Rank size = mpi::detail::size_of(comm);
  void* recv = MPI_IN_PLACE;
  Count block = send.count / size;
  if constexpr (!std::is_same_v<std::remove_cvref_t<Recv>, InPlace>) {
    static_assert(mpi::detail::same_element<Send, Recv>, "send and receive buffers have different element types");
    block = mpi::detail::typed(recvbuf).count;
    recv = mpi::detail::typed(recvbuf).data;
  }
  require(mpi::detail::rank_of(comm) != root || send.count >= block * size, "the send buffer is too small");
  mpi::scatter(send.data, block, send.type, recv, block, send.type, root, comm, choice);
}

/// The same with counts[i] elements for rank i, at displs[i]; both are needed at the root only.
template <mpi::detail::Elements Send, typename Recv>
void scatterv(const Send& sendbuf, std::span<const Count> counts, std::span<const Count> displs, Recv&& recvbuf,
              int root, MPI_Comm comm, const Choice& choice = {}) {
  mpi::detail::require_reducible<std::ranges::range_value_t<Send>>();
  const mpi::detail::Typed send = mpi::detail::typed(sendbuf);
  if (mpi::detail::rank_of(comm) == root) {
    require(send.count >= mpi::detail::end_of(counts, displs, mpi::detail::size_of(comm)),
            "the send buffer is too small");
  }
  void* recv = MPI_IN_PLACE;
  Count own = 0;
  if constexpr (!std::is_same_v<std::remove_cvref_t<Recv>, InPlace>) {
    static_assert(mpi::detail::same_element<Send, Recv>, "send and receive buffers have different element types");
    own = mpi::detail::typed(recvbuf).count;
    recv = mpi::detail::typed(recvbuf).data;
  }
  mpi::scatterv(send.data, counts, displs, send.type, recv, own, send.type, root, comm, choice);
}

/// recvbuf = block `rank` of every rank's p blocks, in the order of ranks; block = size of recvbuf / p. In place: recvbuf
/// holds the blocks to send before.
template <typename Send, mpi::detail::Elements Recv>
void alltoall(const Send& sendbuf, Recv&& recvbuf, MPI_Comm comm, const Choice& choice = {}) {
  const mpi::detail::Typed recv = mpi::detail::typed(recvbuf);
  const Rank size = mpi::detail::size_of(comm);
  require(recv.count % (size * recv.bytes_each) == 0, "the vector is not p blocks of equal size");
  const Count block = recv.count / size;
  mpi::alltoall(mpi::detail::send_address<Recv>(sendbuf, recv.count), block, recv.type, recv.data, block, recv.type,
                comm, choice);
}

/// The same with send_counts[i] elements to rank i, from send_displs[i], and counts[i] from rank i, at displs[i]. In
/// place: the blocks to send lie where the received ones will; send_counts and send_displs are ignored. Element types
/// that MPI predefines.
template <typename Send, mpi::detail::Elements Recv>
void alltoallv(const Send& sendbuf, std::span<const Count> send_counts, std::span<const Count> send_displs,
               Recv&& recvbuf, std::span<const Count> counts, std::span<const Count> displs, MPI_Comm comm,
               const Choice& choice = {}) {
  mpi::detail::require_reducible<std::ranges::range_value_t<Recv>>();
  const mpi::detail::Typed recv = mpi::detail::typed(recvbuf);
  const Rank size = mpi::detail::size_of(comm);
  require(recv.count >= mpi::detail::end_of(counts, displs, size), "the receive buffer is too small");
  Count sent = 0;
  if constexpr (!std::is_same_v<Send, InPlace>) sent = mpi::detail::end_of(send_counts, send_displs, size);
  mpi::alltoallv(mpi::detail::send_address<Recv>(sendbuf, sent), send_counts, send_displs, recv.type, recv.data, counts,
                 displs, recv.type, comm, choice);
}

/// recvbuf = contributions of ranks 0 .. rank, combined; count = size of recvbuf.
template <typename Send, mpi::detail::Elements Recv>
void scan(const Send& sendbuf, Recv&& recvbuf, const mpi::AnyOp& op, MPI_Comm comm, const Choice& choice = {}) {
  mpi::detail::require_reducible<std::ranges::range_value_t<Recv>>();
  const mpi::detail::Typed recv = mpi::detail::typed(recvbuf);
  mpi::scan(mpi::detail::send_address<Recv>(sendbuf, recv.count), recv.data, recv.count, recv.type, op.get(), comm,
            choice);
}

/// recvbuf = contributions of ranks 0 .. rank - 1, combined; at rank 0 it is left as it is. count = size of recvbuf, at
/// rank 0 too.
template <typename Send, mpi::detail::Elements Recv>
void exscan(const Send& sendbuf, Recv&& recvbuf, const mpi::AnyOp& op, MPI_Comm comm, const Choice& choice = {}) {
  mpi::detail::require_reducible<std::ranges::range_value_t<Recv>>();
  const mpi::detail::Typed recv = mpi::detail::typed(recvbuf);
  mpi::exscan(mpi::detail::send_address<Recv>(sendbuf, recv.count), recv.data, recv.count, recv.type, op.get(), comm,
              choice);
}

/// buffer = the root's buffer.
template <mpi::detail::Elements Buffer>
void bcast(Buffer&& buffer, int root, MPI_Comm comm, const Choice& choice = {}) {
  const mpi::detail::Typed t = mpi::detail::typed(buffer);
  mpi::bcast(t.data, t.count, t.type, root, comm, choice);
}

/// Returns after every rank has called it.
inline void barrier(MPI_Comm comm, const Choice& choice = {}) { mpi::barrier(comm, choice); }

}  // namespace circoll
