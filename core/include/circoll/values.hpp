// The typed calls whose results are values: vectors of the right size, or scalars. Counts are inferred.
//
//   std::vector<double> sum = circoll::allreduce(mine, circoll::Op::sum, comm);
//   double total = circoll::allreduce(3.5, circoll::Op::sum, comm);
//   std::vector<int> all = circoll::allgatherv(mine, comm);
//   auto [elements, counts] = circoll::allgatherv(mine, comm, circoll::with_counts);
//
// Where sizes are not known to a rank, one more collective tells them before: of one Count per rank, by the default
// choice. They wait for their end: a nonblocking communicator is for the calls of circoll/comm.hpp.
#pragma once

#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "circoll/comm.hpp"

namespace circoll {

/// Asks for the counts beside the elements.
struct WithCounts {};
inline constexpr WithCounts with_counts{};  ///< the value to give

/// Elements of all ranks in the order of ranks, and how many are of each, p entries. Both are empty at ranks
/// that get nothing.
template <typename T>
struct Gathered {
  std::vector<T> elements;    ///< of all ranks, one after another
  std::vector<Count> counts;  ///< elements of every rank; p entries
};

/// A single element.
template <typename T>
concept Scalar = !std::ranges::range<T> && !std::same_as<std::remove_cvref_t<T>, InPlace>;

namespace detail {

template <typename T>
std::vector<T> elements(Count count) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> holds no elements: use unsigned char");
  return std::vector<T>(static_cast<std::size_t>(count));
}

template <typename T>
std::span<const T, 1> one(const T& value) {
  return std::span<const T, 1>(&value, 1);
}

template <typename C>
Rank size_of_comm(C&& comm) {
  return CommunicatorTraits<std::remove_cvref_t<C>>::size(comm);
}
template <typename C>
bool is_root(Rank root, C&& comm) {
  return CommunicatorTraits<std::remove_cvref_t<C>>::rank(comm) == root;
}

/// A result of as many elements as a contribution, which call(result) writes.
template <typename Send>
[[nodiscard]] auto as_long(const Send& sendbuf, auto call) {
  auto result = elements<Element<Send>>(size_of(sendbuf));
  call(result);
  return result;
}
/// A result of one element, which call(span) writes.
template <typename T>
[[nodiscard]] T single(auto call) {
  T result{};
  call(std::span<T, 1>(&result, 1));
  return result;
}

}  // namespace detail

/// The contributions of all ranks, combined.
template <std::ranges::range Send, typename O, BlockingCommunicator C>
[[nodiscard]] auto allreduce(const Send& sendbuf, const O& op, C&& comm, const Choice& choice = {}) {
  return detail::as_long(sendbuf, [&](auto& result) { allreduce(sendbuf, result, op, comm, choice); });
}
/// The same of one value from each rank, as MPI_Allreduce with a count of 1.
template <Scalar T, typename O, BlockingCommunicator C>
[[nodiscard]] T allreduce(const T& value, const O& op, C&& comm, const Choice& choice = {}) {
  return detail::single<T>([&](auto result) { allreduce(detail::one(value), result, op, comm, choice); });
}

/// The contributions of ranks 0 .. rank, combined.
template <std::ranges::range Send, typename O, BlockingCommunicator C>
[[nodiscard]] auto scan(const Send& sendbuf, const O& op, C&& comm, const Choice& choice = {}) {
  return detail::as_long(sendbuf, [&](auto& result) { scan(sendbuf, result, op, comm, choice); });
}
/// The same of one value from each rank, as MPI_Scan with a count of 1.
template <Scalar T, typename O, BlockingCommunicator C>
[[nodiscard]] T scan(const T& value, const O& op, C&& comm, const Choice& choice = {}) {
  return detail::single<T>([&](auto result) { scan(detail::one(value), result, op, comm, choice); });
}

/// The contributions of ranks 0 .. rank - 1, combined; at rank 0 zeros.
template <std::ranges::range Send, typename O, BlockingCommunicator C>
[[nodiscard]] auto exscan(const Send& sendbuf, const O& op, C&& comm, const Choice& choice = {}) {
  return detail::as_long(sendbuf, [&](auto& result) { exscan(sendbuf, result, op, comm, choice); });
}
/// The same of one value from each rank; the result at rank 0 is value-initialised.
template <Scalar T, typename O, BlockingCommunicator C>
[[nodiscard]] T exscan(const T& value, const O& op, C&& comm, const Choice& choice = {}) {
  return detail::single<T>([&](auto result) { exscan(detail::one(value), result, op, comm, choice); });
}

/// At the root the contributions of all ranks, combined; elsewhere an empty vector, or nothing.
template <std::ranges::range Send, typename O, BlockingCommunicator C>
[[nodiscard]] auto reduce(const Send& sendbuf, const O& op, Rank root, C&& comm, const Choice& choice = {}) {
  auto result = detail::elements<detail::Element<Send>>(detail::is_root(root, comm) ? detail::size_of(sendbuf) : 0);
  reduce(sendbuf, result, op, root, comm, choice);
  return result;
}
/// The same of one value from each rank. Nothing at ranks other than the root.
template <Scalar T, typename O, BlockingCommunicator C>
[[nodiscard]] std::optional<T> reduce(const T& value, const O& op, Rank root, C&& comm, const Choice& choice = {}) {
  T result{};
  reduce(detail::one(value), std::span<T>(&result, 1), op, root, comm, choice);
  return detail::is_root(root, comm) ? std::optional<T>(result) : std::nullopt;
}

/// Block `rank` of the combined vectors, which are of p equal blocks.
template <std::ranges::range Send, typename O, BlockingCommunicator C>
[[nodiscard]] auto reduce_scatter_block(const Send& sendbuf, const O& op, C&& comm, const Choice& choice = {}) {
  const Rank p = detail::size_of_comm(comm);
  if (detail::size_of(sendbuf) % p != 0) detail::fail_blocks("sendbuf", detail::size_of(sendbuf), p);
  auto result = detail::elements<detail::Element<Send>>(detail::size_of(sendbuf) / p);
  reduce_scatter_block(sendbuf, result, op, comm, choice);
  return result;
}

/// The same with counts[i] elements in block i.
template <std::ranges::range Send, typename O, BlockingCommunicator C>
[[nodiscard]] auto reduce_scatter(const Send& sendbuf, std::span<const Count> counts, const O& op, C&& comm,
                                  const Choice& choice = {}) {
  require(static_cast<Rank>(counts.size()) == detail::size_of_comm(comm), "p counts are needed");
  const Rank rank = CommunicatorTraits<std::remove_cvref_t<C>>::rank(comm);
  auto result = detail::elements<detail::Element<Send>>(counts[static_cast<std::size_t>(rank)]);
  reduce_scatter(sendbuf, result, counts, op, comm, choice);
  return result;
}

/// The contributions of all ranks, in the order of ranks. They are of one size.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto allgather(const Send& sendbuf, C&& comm, const Choice& choice = {}) {
  auto result = detail::elements<detail::Element<Send>>(detail::size_of(sendbuf) * detail::size_of_comm(comm));
  allgather(sendbuf, result, comm, choice);
  return result;
}
/// One value from each rank, in the order of ranks; p entries at every rank.
template <Scalar T, BlockingCommunicator C>
[[nodiscard]] auto allgather(const T& value, C&& comm, const Choice& choice = {}) {
  return allgather(detail::one(value), comm, choice);
}

/// The contributions of all ranks, of any sizes, in the order of ranks.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto allgatherv(const Send& sendbuf, C&& comm, WithCounts /*tag*/, const Choice& choice = {}) {
  Gathered<detail::Element<Send>> result;
  result.counts = allgather(detail::size_of(sendbuf), comm);
  result.elements = detail::elements<detail::Element<Send>>(end_of_blocks(result.counts, {}));
  allgatherv(sendbuf, result.elements, result.counts, {}, comm, choice);
  return result;
}
/// The elements of all ranks without the counts.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto allgatherv(const Send& sendbuf, C&& comm, const Choice& choice = {}) {
  return allgatherv(sendbuf, comm, with_counts, choice).elements;
}

/// At the root the contributions of all ranks, in the order of ranks; elsewhere nothing. They are of one size.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto gather(const Send& sendbuf, Rank root, C&& comm, const Choice& choice = {}) {
  const Count blocks = detail::is_root(root, comm) ? detail::size_of_comm(comm) : 0;
  auto result = detail::elements<detail::Element<Send>>(detail::size_of(sendbuf) * blocks);
  gather(sendbuf, result, root, comm, choice);
  return result;
}
/// One value from each rank, in the order of ranks. Empty at ranks other than the root.
template <Scalar T, BlockingCommunicator C>
[[nodiscard]] auto gather(const T& value, Rank root, C&& comm, const Choice& choice = {}) {
  return gather(detail::one(value), root, comm, choice);
}

/// The same of contributions of any sizes.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto gatherv(const Send& sendbuf, Rank root, C&& comm, WithCounts /*tag*/, const Choice& choice = {}) {
  Gathered<detail::Element<Send>> result;
  result.counts = gather(detail::size_of(sendbuf), root, comm);
  result.elements = detail::elements<detail::Element<Send>>(end_of_blocks(result.counts, {}));
  gatherv(sendbuf, result.elements, result.counts, {}, root, comm, choice);
  return result;
}
/// The elements of all ranks without the counts. Empty at ranks other than the root.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto gatherv(const Send& sendbuf, Rank root, C&& comm, const Choice& choice = {}) {
  return gatherv(sendbuf, root, comm, with_counts, choice).elements;
}

/// Block `rank` of the root's p equal blocks. The others' sendbuf is ignored, and says the element type.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto scatter(const Send& sendbuf, Rank root, C&& comm, const Choice& choice = {}) {
  Count block = -1;
  if (detail::is_root(root, comm) && detail::size_of(sendbuf) % detail::size_of_comm(comm) == 0) {
    block = detail::size_of(sendbuf) / detail::size_of_comm(comm);
  }
  bcast(std::span<Count>(&block, 1), root, comm);
  require(block >= 0, "sendbuf of the root is not p blocks of equal size");  // on all ranks alike
  auto result = detail::elements<detail::Element<Send>>(block);
  scatter(sendbuf, result, root, comm, choice);
  return result;
}

/// The same with counts[i] elements for rank i, one after another. The counts matter at the root only.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto scatterv(const Send& sendbuf, std::span<const Count> counts, Rank root, C&& comm,
                            const Choice& choice = {}) {
  Count own = 0;
  scatter(counts, std::span<Count>(&own, 1), root, comm);
  auto result = detail::elements<detail::Element<Send>>(own);
  scatterv(sendbuf, counts, {}, result, root, comm, choice);
  return result;
}

/// Block `rank` of every rank's p equal blocks, in the order of ranks.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto alltoall(const Send& sendbuf, C&& comm, const Choice& choice = {}) {
  auto result = detail::elements<detail::Element<Send>>(detail::size_of(sendbuf));
  alltoall(sendbuf, result, comm, choice);
  return result;
}

/// The same with send_counts[i] elements for rank i, one after another.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto alltoallv(const Send& sendbuf, std::span<const Count> send_counts, C&& comm, WithCounts /*tag*/,
                             const Choice& choice = {}) {
  require(static_cast<Rank>(send_counts.size()) == detail::size_of_comm(comm), "p counts to send are needed");
  Gathered<detail::Element<Send>> result;
  result.counts = alltoall(send_counts, comm);
  result.elements = detail::elements<detail::Element<Send>>(end_of_blocks(result.counts, {}));
  alltoallv(sendbuf, send_counts, {}, result.elements, result.counts, {}, comm, choice);
  return result;
}
/// The elements that came without the counts.
template <std::ranges::range Send, BlockingCommunicator C>
[[nodiscard]] auto alltoallv(const Send& sendbuf, std::span<const Count> send_counts, C&& comm,
                             const Choice& choice = {}) {
  return alltoallv(sendbuf, send_counts, comm, with_counts, choice).elements;
}

/// The root's value.
template <Scalar T, BlockingCommunicator C>
[[nodiscard]] T bcast(const T& value, Rank root, C&& comm, const Choice& choice = {}) {
  T result = value;
  bcast(std::span<T, 1>(&result, 1), root, comm, choice);
  return result;
}

}  // namespace circoll
