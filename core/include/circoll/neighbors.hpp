// The typed calls of neighbourhood collectives, on communicators with a topology. circoll/mpi.hpp includes this header.
//
//   circoll::neighbor_alltoall(sent, received, grid);                     // a block to and from each neighbour
//   const std::vector<double> all = circoll::neighbor_allgather(mine, grid);
//   circoll::Request r = circoll::neighbor_alltoall(sent, received, circoll::nonblocking(grid));
//
// Blocks are in MPI's order of the neighbours. A grid has two for each dimension, below and above, also where there is
// no neighbour. Such a block is not sent, and one to be received stays as it is. Buffers, elements, requests and errors
// are as in circoll/comm.hpp. Choices are "auto", "direct" (each rank sends straight to its neighbours), "node_aware"
// (blocking and persistent calls join messages between nodes) and "native".
#pragma once

#include <concepts>
#include <ranges>
#include <span>
#include <vector>

#include "circoll/comm.hpp"
#include "circoll/neighbor_function.hpp"
#include "circoll/values.hpp"

namespace circoll {

/// The blocks of a rank's buffers.
struct NeighborCounts {
  Count sent = 0;          ///< by alltoall
  Count received = 0;      ///< by allgather and alltoall
  bool symmetric = false;  ///< both are the same at every rank: the communicator is no distributed graph
};

namespace detail {

template <typename C>
concept HasNeighbors = requires(ReferenceTo<C> comm) {
  { CommunicatorTraits<std::remove_cvref_t<C>>::neighbors(comm) } -> std::same_as<NeighborCounts>;
};

template <typename C>
NeighborCounts neighbors_of(C&& comm) {
  static_assert(HasNeighbors<C>, "only communicators of MPI have neighbours");
  if constexpr (HasNeighbors<C>) return CommunicatorTraits<std::remove_cvref_t<C>>::neighbors(comm);
  return {};
}

/// The elements of each of some equal blocks.
inline Count neighbor_block(const char* buffer, Count elements, Count blocks) {
  if (blocks == 0) return 0;
  if (elements % blocks != 0) {
    throw Error(ErrorCode::invalid_argument, std::string(buffer) + " has " + std::to_string(elements) +
                                                 " elements, which are not " + std::to_string(blocks) +
                                                 " blocks of equal size");
  }
  return elements / blocks;
}

inline void require_neighbor_counts(std::span<const Count> counts, std::span<const Count> displs, Count blocks) {
  require(static_cast<Count>(counts.size()) == blocks && (displs.empty() || displs.size() == counts.size()),
          "a count for each neighbour, and as many displacements or none, are needed");
}

/// A call with its receive buffer.
template <typename Recv, typename C>
Making<Element<Recv>, C> make_among_neighbors(NeighborFunction function, ReferenceTo<C> comm) {
  Making<Element<Recv>, C> making(among_all(function), comm);
  making.call.neighbor = function;
  return making;
}

}  // namespace detail

/// recvbuf = the contributions of this rank's sources; block = size of sendbuf, the same at all ranks.
template <typename Send, typename Recv, Communicator C>
ResultOn<C> neighbor_allgather(Send&& sendbuf, Recv&& recvbuf, C&& comm, const Choice& choice = {}) {
  auto making = detail::make_among_neighbors<Recv, C>(NeighborFunction::allgather, comm);
  making.call.count = detail::size_of(sendbuf);
  making.send(sendbuf, making.call.count);
  making.require_room(detail::size_of(recvbuf), making.call.count * detail::neighbors_of(comm).received);
  making.recv(recvbuf);
  return making.template execute<Send, Recv>(choice);
}

/// The same with counts[i] elements from source i, at displs[i] (packed if empty).
template <typename Send, typename Recv, Communicator C>
ResultOn<C> neighbor_allgatherv(Send&& sendbuf, Recv&& recvbuf, std::span<const Count> counts,
                                std::span<const Count> displs, C&& comm, const Choice& choice = {}) {
  auto making = detail::make_among_neighbors<Recv, C>(NeighborFunction::allgatherv, comm);
  detail::require_neighbor_counts(counts, displs, detail::neighbors_of(comm).received);
  making.call.count = detail::size_of(sendbuf);
  making.send(sendbuf, making.call.count);
  making.require_room(detail::size_of(recvbuf), end_of_blocks(counts, displs));
  making.recv(recvbuf);
  making.call.counts = counts;
  making.call.displs = displs;
  return making.template execute<Send, Recv>(choice);
}

/// recvbuf = a block from each source, and sendbuf = a block for each destination; block = size of recvbuf / sources. A
/// rank without sources takes it from sendbuf.
template <typename Send, typename Recv, Communicator C>
ResultOn<C> neighbor_alltoall(Send&& sendbuf, Recv&& recvbuf, C&& comm, const Choice& choice = {}) {
  auto making = detail::make_among_neighbors<Recv, C>(NeighborFunction::alltoall, comm);
  const NeighborCounts blocks = detail::neighbors_of(comm);
  making.call.count = blocks.received > 0 ? detail::neighbor_block("recvbuf", detail::size_of(recvbuf), blocks.received)
                                          : detail::neighbor_block("sendbuf", detail::size_of(sendbuf), blocks.sent);
  making.send(sendbuf, making.call.count * blocks.sent);
  making.recv(recvbuf);
  return making.template execute<Send, Recv>(choice);
}

/// The same with send_counts[i] elements to destination i, from send_displs[i], and counts[i] from source i, at
/// displs[i] (packed if empty).
template <typename Send, typename Recv, Communicator C>
ResultOn<C> neighbor_alltoallv(Send&& sendbuf, std::span<const Count> send_counts, std::span<const Count> send_displs,
                               Recv&& recvbuf, std::span<const Count> counts, std::span<const Count> displs, C&& comm,
                               const Choice& choice = {}) {
  auto making = detail::make_among_neighbors<Recv, C>(NeighborFunction::alltoallv, comm);
  const NeighborCounts blocks = detail::neighbors_of(comm);
  detail::require_neighbor_counts(send_counts, send_displs, blocks.sent);
  detail::require_neighbor_counts(counts, displs, blocks.received);
  making.call.send_counts = send_counts;
  making.call.send_displs = send_displs;
  making.send(sendbuf, end_of_blocks(send_counts, send_displs));
  making.require_room(detail::size_of(recvbuf), end_of_blocks(counts, displs));
  making.recv(recvbuf);
  making.call.counts = counts;
  making.call.displs = displs;
  return making.template execute<Send, Recv>(choice);
}

// By value, as circoll/values.hpp has the others. The block of a neighbour that is not there has zeros, or no elements.

/// The contributions of this rank's sources, which are of one size.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto neighbor_allgather(const Send& sendbuf, C&& comm, const Choice& choice = {}) {
  auto result = detail::elements<detail::Element<Send>>(detail::size_of(sendbuf) * detail::neighbors_of(comm).received);
  neighbor_allgather(sendbuf, result, comm, choice);
  return result;
}
/// One value from each source.
template <Scalar T, BlockingCommunicator C>
[[nodiscard]] auto neighbor_allgather(const T& value, C&& comm, const Choice& choice = {}) {
  return neighbor_allgather(detail::one(value), comm, choice);
}

/// The contributions of this rank's sources, of any sizes.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto neighbor_allgatherv(const Send& sendbuf, C&& comm, WithCounts /*tag*/, const Choice& choice = {}) {
  Gathered<detail::Element<Send>> result;
  result.counts = neighbor_allgather(detail::size_of(sendbuf), comm);
  result.elements = detail::elements<detail::Element<Send>>(end_of_blocks(result.counts, {}));
  neighbor_allgatherv(sendbuf, result.elements, result.counts, {}, comm, choice);
  return result;
}
/// The elements without the counts.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto neighbor_allgatherv(const Send& sendbuf, C&& comm, const Choice& choice = {}) {
  return neighbor_allgatherv(sendbuf, comm, with_counts, choice).elements;
}

/// A block from each source. All blocks are of one size, which ranks without destinations learn from their sources.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto neighbor_alltoall(const Send& sendbuf, C&& comm, const Choice& choice = {}) {
  const NeighborCounts blocks = detail::neighbors_of(comm);
  Count block = detail::neighbor_block("sendbuf", detail::size_of(sendbuf), blocks.sent);
  if (!blocks.symmetric) {
    const std::vector<Count> told = neighbor_allgather(block, comm);
    if (blocks.sent == 0 && !told.empty()) block = told.front();
  }
  auto result = detail::elements<detail::Element<Send>>(block * blocks.received);
  neighbor_alltoall(sendbuf, result, comm, choice);
  return result;
}

/// The same with send_counts[i] elements for destination i, one after another.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto neighbor_alltoallv(const Send& sendbuf, std::span<const Count> send_counts, C&& comm,
                                      WithCounts /*tag*/, const Choice& choice = {}) {
  const NeighborCounts blocks = detail::neighbors_of(comm);
  detail::require_neighbor_counts(send_counts, {}, blocks.sent);
  Gathered<detail::Element<Send>> result;
  result.counts.resize(static_cast<std::size_t>(blocks.received));
  neighbor_alltoall(send_counts, result.counts, comm);
  result.elements = detail::elements<detail::Element<Send>>(end_of_blocks(result.counts, {}));
  neighbor_alltoallv(sendbuf, send_counts, {}, result.elements, result.counts, {}, comm, choice);
  return result;
}
/// The elements without the counts.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto neighbor_alltoallv(const Send& sendbuf, std::span<const Count> send_counts, C&& comm,
                                      const Choice& choice = {}) {
  return neighbor_alltoallv(sendbuf, send_counts, comm, with_counts, choice).elements;
}

}  // namespace circoll
