// The typed API, for every communicator: local::Comm (circoll/local.hpp) and MPI_Comm (circoll/mpi.hpp).
//
//   circoll::allreduce(mine, sum, circoll::Op::sum, comm);                            // waits
//   const std::vector<double> all = circoll::allgather(mine, comm);                   // circoll/values.hpp
//   circoll::Request r = circoll::allreduce(mine, sum, circoll::Op::sum, circoll::nonblocking(comm));
//   circoll::Request s = circoll::allreduce(mine, sum, circoll::Op::sum, circoll::persistent(comm));
//   s.start();                                                                        // circoll/request.hpp
//
// Buffers are contiguous ranges (vector, span, array) of trivially copyable elements; `sendbuf` may be in_place where
// MPI allows MPI_IN_PLACE. Sizes are checked, and MPI's counts follow from them. Rooted collectives ignore the buffers
// that are not significant at a rank. Operators are circoll::Op, those of the communicator, UserOperator, and callables
// (circoll/operators.hpp). Too small a buffer throws Error(invalid_argument); other errors are those of the
// communicator. Nonblocking and persistent calls take no temporary buffers. A call with wrong types does not compile,
// and a sentence says why (circoll/misuse.hpp).
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "circoll/buffers.hpp"
#include "circoll/call.hpp"
#include "circoll/communicator.hpp"
#include "circoll/error.hpp"
#include "circoll/misuse.hpp"
#include "circoll/operators.hpp"
#include "circoll/types.hpp"

namespace circoll {

/// A buffer of elements.
template <typename Buffer>
concept Elements = std::ranges::contiguous_range<Buffer> && std::ranges::sized_range<Buffer> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Buffer>>;

namespace detail {

template <typename Buffer>
inline constexpr bool is_in_place = std::is_same_v<std::remove_cvref_t<Buffer>, InPlace>;

/// The element type of a buffer; NoElement if it is none.
template <typename Buffer>
struct ElementOf {
  using type = NoElement;
};
template <Elements Buffer>
struct ElementOf<Buffer> {
  using type = std::ranges::range_value_t<Buffer>;
};
template <typename Buffer>
using Element = typename ElementOf<Buffer>::type;

template <typename Buffer>
Count size_of(const Buffer& buffer) {
  if constexpr (Elements<const Buffer>) return static_cast<Count>(std::ranges::size(buffer));
  return 0;
}

/// True if the type can be a buffer of a call, or in_place. Otherwise the compiler prints one sentence.
template <typename Buffer>
[[nodiscard]] constexpr bool check_buffer() {
  using Plain = std::remove_cvref_t<Buffer>;
  if constexpr (!is_in_place<Plain> && !Elements<Buffer>) {
    constexpr bool pointer = std::is_pointer_v<Plain>;
    constexpr bool range = std::ranges::contiguous_range<Buffer> && std::ranges::sized_range<Buffer>;
    static_assert(!pointer,
                  "a pointer is no buffer: give std::span(pointer, count), or call circoll::mpi with MPI's "
                  "arguments");
    static_assert(pointer || range,
                  "a buffer is a contiguous range, such as std::vector (not of bool), std::array or "
                  "std::span: give std::span(&value, 1) for one element");
    static_assert(!range,
                  "the elements of a buffer are trivially copyable: a struct of numbers is, std::string, "
                  "std::pair and std::tuple are not");
  }
  return is_in_place<Plain> || Elements<Buffer>;
}

/// The errors of buffers, which name the buffer, its elements and those that are needed.
[[noreturn]] inline void fail_room(const char* buffer, Count elements, Count needed) {
  throw Error(ErrorCode::invalid_argument, std::string(buffer) + " has " + std::to_string(elements) +
                                               " elements, and " + std::to_string(needed) + " are needed");
}
[[noreturn]] inline void fail_blocks(const char* buffer, Count elements, Rank p) {
  throw Error(ErrorCode::invalid_argument, std::string(buffer) + " has " + std::to_string(elements) +
                                               " elements, which are not p = " + std::to_string(p) +
                                               " blocks of equal size");
}

/// The making of one call on a communicator: its arguments, step by step, and their checks. T is the element type.
template <typename T, typename C>
class Making {
 public:
  using Traits = CommunicatorTraits<std::remove_cvref_t<C>>;
  using Operator = typename Traits::Operator;
  using Result = typename Traits::Result;

  Making(Collective collective, typename Traits::Reference comm) : comm_(comm) {
    call.collective = collective;
    if constexpr (type_of<T>().has_value()) {
      call.type = *type_of<T>();
    } else {
      call.record_bytes = sizeof(T);
    }
  }

  [[nodiscard]] Rank size() {
    if (size_ == 0) size_ = Traits::size(comm_);
    return size_;
  }
  [[nodiscard]] Rank rank() { return Traits::rank(comm_); }
  [[nodiscard]] bool at_root() { return rank() == call.root; }

  /// Sets the send buffer, which must have at least this many elements.
  template <typename Send>
  void send(const Send& sendbuf, Count elements) {
    if constexpr (is_in_place<Send>) {
      call.in_place = true;
    } else if constexpr (is_buffer_of_elements<const Send>()) {
      if (size_of(sendbuf) < elements) fail_room("sendbuf", size_of(sendbuf), elements);
      call.sendbuf = std::ranges::data(sendbuf);
    }
  }
  template <typename Recv>
  void recv(Recv&& recvbuf) {
    static_assert(!is_in_place<Recv>, "in_place stands for sendbuf (of scatter and scatterv: for recvbuf)");
    if constexpr (is_buffer_of_elements<Recv>()) {
      constexpr bool constant = std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Recv>>>;
      static_assert(!constant, "the receive buffer is constant");
      if constexpr (!constant) call.recvbuf = std::ranges::data(recvbuf);
    }
  }
  /// Sets the buffer of a bcast, which may be constant at the root.
  template <typename Buffer>
  void source(Buffer&& buffer) {
    call.count = size_of(buffer);
    if constexpr (Elements<Buffer>) {
      call.recvbuf = const_cast<void*>(static_cast<const void*>(std::ranges::data(buffer)));
    }
  }
  /// The elements of each of the p equal blocks of recvbuf. The error of a short recvbuf says how many elements the
  /// ranks contribute, if this rank's are known.
  [[nodiscard]] Count block_of(Count elements, Count contributed = 0) {
    if (elements % size() != 0) {
      require_room(elements, contributed * size());
      fail_blocks("recvbuf", elements, size());
    }
    return elements / size();
  }
  void require_blocks(std::span<const Count> counts, std::span<const Count> displs) {
    require(static_cast<Rank>(counts.size()) == size() && (displs.empty() || displs.size() == counts.size()),
            "p counts, and p displacements or none, are needed");
  }
  static void require_room(Count elements, Count needed) {
    if (elements < needed) fail_room("recvbuf", elements, needed);
  }

  /// Executes the call, whose buffers are given for their types.
  template <typename... Buffers>
  auto execute(const Operator* op, const Choice& choice) {
    constexpr bool all_buffers = (check_buffer<Buffers>() && ...);
    constexpr bool all_last = std::is_void_v<Result> || ((borrowed<Buffers> || !Elements<Buffers>)&&...);
    static_assert(all_last, "a call that returns before its end takes no temporary buffer");
    if constexpr (all_buffers) return Traits::execute(comm_, call, op, choice);
    if constexpr (!all_buffers) return Result();
  }
  template <typename... Buffers>
  auto execute(const Choice& choice) {
    return execute<Buffers...>(nullptr, choice);
  }
  /// The same with an operator: one of the communicator's, or a callable, which a request keeps.
  template <typename... Buffers, typename O>
  Result reduce(const O& op, const Choice& choice) {
    using Callable = CallableIn<O>;
    constexpr bool known = type_of<T>().has_value() || std::is_same_v<O, UserOperator> ||
                           std::is_same_v<O, circoll::Operator> || std::is_same_v<T, NoElement>;
    if constexpr (std::is_convertible_v<const O&, Operator>) {
      static_assert(known,
                    "MPI's operators know MPI's element types: combine a struct by a callable, as "
                    "[](const T& a, const T& b) { return ...; }");
      const Operator& operation = op;
      return execute<Buffers...>(&operation, choice);
    } else if constexpr (std::is_same_v<T, NoElement>) {
      return execute<Buffers...>(choice);
    } else if constexpr (predefined_of<Callable, T>().has_value()) {
      const Operator operation = *predefined_of<Callable, T>();
      return execute<Buffers...>(&operation, choice);
    } else if constexpr (check_callable<Callable, T>()) {
      if constexpr (std::is_void_v<Result>) {
        const UserOperator user = refer_to<T>(callable_in(op), is_commutative_callable<O>);
        const Operator operation = user;
        execute<Buffers...>(&operation, choice);
      } else {
        using Kept = KeptCallable<T, std::decay_t<Callable>>;
        const auto kept = std::make_shared<const Kept>(callable_in(op), is_commutative_callable<O>);
        const Operator operation = kept->op;
        Result request = execute<Buffers...>(&operation, choice);
        request.keep(kept);
        return request;
      }
    } else {
      return Result();
    }
  }

  CollectiveCall call;

 private:
  template <typename Buffer>
  static constexpr bool borrowed = is_in_place<Buffer> || std::ranges::borrowed_range<Buffer>;

  /// True if a buffer has elements T. Where T is none, there is another message.
  template <typename Buffer>
  [[nodiscard]] static constexpr bool is_buffer_of_elements() {
    static_assert(!Elements<Buffer> || std::is_same_v<T, NoElement> || std::is_same_v<Element<Buffer>, T>,
                  "send and receive buffers have different element types");
    return Elements<Buffer> && std::is_same_v<Element<Buffer>, T>;
  }

  typename Traits::Reference comm_;
  Rank size_ = 0;
};

/// allreduce, scan, exscan: count = size of recvbuf.
template <typename Send, typename Recv, typename O, typename C>
ResultOn<C> combine(Collective collective, Send&& sendbuf, Recv&& recvbuf, const O& op, C&& comm,
                    const Choice& choice) {
  Making<Element<Recv>, C> making(collective, comm);
  making.call.count = size_of(recvbuf);
  making.send(sendbuf, making.call.count);
  making.recv(recvbuf);
  return making.template reduce<Send, Recv>(op, choice);
}

}  // namespace detail

/// recvbuf = contributions of all ranks, combined; count = size of recvbuf.
template <typename Send, typename Recv, typename O, Communicator C>
ResultOn<C> allreduce(Send&& sendbuf, Recv&& recvbuf, const O& op, C&& comm, const Choice& choice = {}) {
  return detail::combine<Send, Recv, O, C>(Collective::allreduce, std::forward<Send>(sendbuf),
                                           std::forward<Recv>(recvbuf), op, std::forward<C>(comm), choice);
}

/// recvbuf = contributions of ranks 0 .. rank, combined; count = size of recvbuf.
template <typename Send, typename Recv, typename O, Communicator C>
ResultOn<C> scan(Send&& sendbuf, Recv&& recvbuf, const O& op, C&& comm, const Choice& choice = {}) {
  return detail::combine<Send, Recv, O, C>(Collective::scan, std::forward<Send>(sendbuf), std::forward<Recv>(recvbuf),
                                           op, std::forward<C>(comm), choice);
}

/// recvbuf = contributions of ranks 0 .. rank - 1, combined. At rank 0 it is left as it is.
/// count = size of recvbuf, at rank 0 too.
template <typename Send, typename Recv, typename O, Communicator C>
ResultOn<C> exscan(Send&& sendbuf, Recv&& recvbuf, const O& op, C&& comm, const Choice& choice = {}) {
  return detail::combine<Send, Recv, O, C>(Collective::exscan, std::forward<Send>(sendbuf), std::forward<Recv>(recvbuf),
                                           op, std::forward<C>(comm), choice);
}

/// recvbuf at the root = contributions of all ranks, combined; count = size of sendbuf. In place at the root: the
/// contribution is in recvbuf, and count = size of recvbuf.
template <typename Send, typename Recv, typename O, Communicator C>
ResultOn<C> reduce(Send&& sendbuf, Recv&& recvbuf, const O& op, Rank root, C&& comm, const Choice& choice = {}) {
  detail::Making<detail::Element<Recv>, C> making(Collective::reduce, comm);
  making.call.root = root;
  if constexpr (detail::is_in_place<Send>) {
    making.call.count = detail::size_of(recvbuf);
  } else {
    making.call.count = detail::size_of(sendbuf);
    if (making.at_root()) making.require_room(detail::size_of(recvbuf), making.call.count);
  }
  making.send(sendbuf, making.call.count);
  making.recv(recvbuf);
  return making.template reduce<Send, Recv>(op, choice);
}

/// recvbuf = block `rank` of the combined vectors of p blocks; block = size of recvbuf. In place: recvbuf holds the
/// vector before, and the block at its beginning afterwards.
template <typename Send, typename Recv, typename O, Communicator C>
ResultOn<C> reduce_scatter_block(Send&& sendbuf, Recv&& recvbuf, const O& op, C&& comm, const Choice& choice = {}) {
  detail::Making<detail::Element<Recv>, C> making(Collective::reduce_scatter_block, comm);
  making.call.count = detail::size_of(recvbuf);
  if constexpr (detail::is_in_place<Send>) making.call.count = making.block_of(making.call.count);
  making.send(sendbuf, making.call.count * making.size());
  making.recv(recvbuf);
  return making.template reduce<Send, Recv>(op, choice);
}

/// The same with counts[i] elements in block i.
template <typename Send, typename Recv, typename O, Communicator C>
ResultOn<C> reduce_scatter(Send&& sendbuf, Recv&& recvbuf, std::span<const Count> counts, const O& op, C&& comm,
                           const Choice& choice = {}) {
  detail::Making<detail::Element<Recv>, C> making(Collective::reduce_scatter, comm);
  making.require_blocks(counts, {});
  const Count total = end_of_blocks(counts, {});
  making.send(sendbuf, total);
  const Count received = detail::is_in_place<Send> ? total : counts[static_cast<std::size_t>(making.rank())];
  making.require_room(detail::size_of(recvbuf), received);
  making.recv(recvbuf);
  making.call.counts = counts;
  return making.template reduce<Send, Recv>(op, choice);
}

/// recvbuf = the p contributions in the order of ranks; block = size of recvbuf / p.
template <typename Send, typename Recv, Communicator C>
ResultOn<C> allgather(Send&& sendbuf, Recv&& recvbuf, C&& comm, const Choice& choice = {}) {
  detail::Making<detail::Element<Recv>, C> making(Collective::allgather, comm);
  if constexpr (detail::is_in_place<Send>) {
    making.call.count = making.block_of(detail::size_of(recvbuf));
  } else {
    making.call.count = making.block_of(detail::size_of(recvbuf), detail::size_of(sendbuf));
  }
  making.send(sendbuf, making.call.count);
  making.recv(recvbuf);
  return making.template execute<Send, Recv>(choice);
}

/// The same with counts[i] elements from rank i, at displs[i] (packed if empty).
template <typename Send, typename Recv, Communicator C>
ResultOn<C> allgatherv(Send&& sendbuf, Recv&& recvbuf, std::span<const Count> counts, std::span<const Count> displs,
                       C&& comm, const Choice& choice = {}) {
  detail::Making<detail::Element<Recv>, C> making(Collective::allgatherv, comm);
  making.require_blocks(counts, displs);
  making.call.count = counts[static_cast<std::size_t>(making.rank())];
  making.send(sendbuf, making.call.count);
  making.require_room(detail::size_of(recvbuf), end_of_blocks(counts, displs));
  making.recv(recvbuf);
  making.call.counts = counts;
  making.call.displs = displs;
  return making.template execute<Send, Recv>(choice);
}

/// recvbuf at the root = the p contributions in the order of ranks; block = size of sendbuf. In place at the root: its
/// own is already there, and block = size of recvbuf / p.
template <typename Send, typename Recv, Communicator C>
ResultOn<C> gather(Send&& sendbuf, Recv&& recvbuf, Rank root, C&& comm, const Choice& choice = {}) {
  detail::Making<detail::Element<Recv>, C> making(Collective::gather, comm);
  making.call.root = root;
  if constexpr (detail::is_in_place<Send>) {
    making.call.count = detail::size_of(recvbuf) / making.size();
  } else {
    making.call.count = detail::size_of(sendbuf);
  }
  making.send(sendbuf, making.call.count);
  if (making.at_root()) making.require_room(detail::size_of(recvbuf), making.call.count * making.size());
  making.recv(recvbuf);
  return making.template execute<Send, Recv>(choice);
}

/// The same with counts[i] elements from rank i, at displs[i] (packed if empty); both matter at the root only.
template <typename Send, typename Recv, Communicator C>
ResultOn<C> gatherv(Send&& sendbuf, Recv&& recvbuf, std::span<const Count> counts, std::span<const Count> displs,
                    Rank root, C&& comm, const Choice& choice = {}) {
  detail::Making<detail::Element<Recv>, C> making(Collective::gatherv, comm);
  making.call.root = root;
  if (making.at_root()) {
    making.require_blocks(counts, displs);
    making.require_room(detail::size_of(recvbuf), end_of_blocks(counts, displs));
    making.call.counts = counts;
    making.call.displs = displs;
  }
  if constexpr (!detail::is_in_place<Send>) making.call.count = detail::size_of(sendbuf);
  making.send(sendbuf, making.call.count);
  making.recv(recvbuf);
  return making.template execute<Send, Recv>(choice);
}

/// recvbuf = block `rank` of the root's sendbuf of p blocks; block = size of recvbuf. At the root, recvbuf may be
/// in_place. Then its own block stays in sendbuf, and block = size of sendbuf / p.
template <typename Send, typename Recv, Communicator C>
ResultOn<C> scatter(Send&& sendbuf, Recv&& recvbuf, Rank root, C&& comm, const Choice& choice = {}) {
  detail::Making<detail::Element<Send>, C> making(Collective::scatter, comm);
  making.call.root = root;
  if constexpr (detail::is_in_place<Recv>) {
    making.call.in_place = true;
    making.call.count = detail::size_of(sendbuf) / making.size();
  } else {
    making.call.count = detail::size_of(recvbuf);
    making.recv(recvbuf);
  }
  making.send(sendbuf, making.at_root() ? making.call.count * making.size() : 0);
  return making.template execute<Send, Recv>(choice);
}

/// The same with counts[i] elements to rank i, from displs[i] (packed if empty); both matter at the root only.
template <typename Send, typename Recv, Communicator C>
ResultOn<C> scatterv(Send&& sendbuf, std::span<const Count> counts, std::span<const Count> displs, Recv&& recvbuf,
                     Rank root, C&& comm, const Choice& choice = {}) {
  detail::Making<detail::Element<Send>, C> making(Collective::scatterv, comm);
  making.call.root = root;
  const bool at_root = making.at_root();
  if (at_root) {
    making.require_blocks(counts, displs);
    making.call.counts = counts;
    making.call.displs = displs;
  }
  if constexpr (detail::is_in_place<Recv>) {
    making.call.in_place = true;
    if (at_root) making.call.count = counts[static_cast<std::size_t>(root)];
  } else {
    making.call.count = detail::size_of(recvbuf);
    making.recv(recvbuf);
  }
  making.send(sendbuf, at_root ? end_of_blocks(counts, displs) : 0);
  return making.template execute<Send, Recv>(choice);
}

/// buffer = the root's buffer.
template <std::ranges::range Buffer, Communicator C>
ResultOn<C> bcast(Buffer&& buffer, Rank root, C&& comm, const Choice& choice = {}) {
  detail::Making<detail::Element<Buffer>, C> making(Collective::bcast, comm);
  making.call.root = root;
  making.source(buffer);
  return making.template execute<Buffer>(choice);
}

/// recvbuf = block `rank` of every rank's p blocks, in the order of ranks; block = size of recvbuf / p. In place:
/// recvbuf holds the blocks to send before.
template <typename Send, typename Recv, Communicator C>
ResultOn<C> alltoall(Send&& sendbuf, Recv&& recvbuf, C&& comm, const Choice& choice = {}) {
  detail::Making<detail::Element<Recv>, C> making(Collective::alltoall, comm);
  making.call.count = making.block_of(detail::size_of(recvbuf));
  making.send(sendbuf, detail::size_of(recvbuf));
  making.recv(recvbuf);
  return making.template execute<Send, Recv>(choice);
}

/// The same with send_counts[i] elements to rank i, from send_displs[i], and counts[i] from rank i, at
/// displs[i] (packed if empty). In place: the blocks to send lie where the received ones will; send_counts and
/// send_displs are ignored.
template <typename Send, typename Recv, Communicator C>
ResultOn<C> alltoallv(Send&& sendbuf, std::span<const Count> send_counts, std::span<const Count> send_displs,
                      Recv&& recvbuf, std::span<const Count> counts, std::span<const Count> displs, C&& comm,
                      const Choice& choice = {}) {
  detail::Making<detail::Element<Recv>, C> making(Collective::alltoallv, comm);
  making.require_blocks(counts, displs);
  Count sent = 0;
  if constexpr (!detail::is_in_place<Send>) {
    making.require_blocks(send_counts, send_displs);
    sent = end_of_blocks(send_counts, send_displs);
    making.call.send_counts = send_counts;
    making.call.send_displs = send_displs;
  }
  making.send(sendbuf, sent);
  making.require_room(detail::size_of(recvbuf), end_of_blocks(counts, displs));
  making.recv(recvbuf);
  making.call.counts = counts;
  making.call.displs = displs;
  return making.template execute<Send, Recv>(choice);
}

/// Ends after every rank has called it.
template <Communicator C>
ResultOn<C> barrier(C&& comm, const Choice& choice = {}) {
  return detail::Making<std::byte, C>(Collective::barrier, comm).execute(choice);
}

}  // namespace circoll
