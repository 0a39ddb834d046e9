// A sparse exchange: each rank gives data for some ranks, and nobody knows who sends to it.
//
//   std::map<circoll::Rank, std::vector<double>> data;                    // for each destination
//   const auto received = circoll::sparse_exchange(data, comm);           // from each source
//   auto later = circoll::sparse_exchange(std::move(data), circoll::nonblocking(comm));
//   const auto others = later.wait();
//
// The ranks end in one of two ways that Hoefler, Siebert and Lumsdaine describe (PPoPP 2010). By consensus each sends
// synchronously, and enters a nonblocking barrier once its messages are received. So the cost is that of the messages
// and of one barrier, and there is no array of p numbers. By census a reduce_scatter of p numbers tells each rank how
// many messages come, while they are under way:
//
//   const auto received = circoll::sparse_exchange(data, comm, circoll::ExchangeBy::census);
//
// Collective: all ranks make the exchanges of a communicator in the same order. The first one on a communicator waits
// for the other ranks, because it makes a private communicator. The exchanges of a communicator follow one another.
// circoll/mpi.hpp includes this header.
//
// Errors are those of circoll/mpi.hpp, on this rank alone. MpiError(MPI_ERR_TRUNCATE): a message was no multiple of
// the elements. MpiError(MPI_ERR_NO_MEM): there was no memory for a message. std::bad_alloc: there was none for the
// call, which sends nothing then. In these cases the other ranks end their exchange, and the next exchange is right.
// They wait if the memory ends earlier: where the list of messages is made, or in a communicator's first exchange or
// census. After another MpiError MPI may still read the data that a blocking call has sent, so they must live on.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "circoll/communicator.hpp"
#include "circoll/request.hpp"
#include "circoll/types.hpp"

namespace circoll {

/// Elements by the rank that they go to, or come from. A rank with no elements is told, too.
template <typename T>
using ByRank = std::map<Rank, std::vector<T>>;

/// The way in which the ranks of an exchange know that no more messages come. The same on all ranks of an exchange.
enum class ExchangeBy {
  consensus,  ///< synchronous messages, and a nonblocking barrier
  census,     ///< a nonblocking reduce_scatter of an int for each rank
};

/// A message of an exchange.
struct ExchangeMessage {
  Rank to = 0;
  const void* data = nullptr;  ///< as long as the exchange is under way
  Count bytes = 0;
};
/// Makes the memory for a message of so many bytes from a rank. It lives as long as the function. nullptr, or an
/// exception: the message is dropped, and the exchange ends with an error. Called in wait() or test() of any request,
/// by any thread.
using ExchangePlace = std::function<void*(Rank from, Count bytes)>;

namespace detail {

template <typename T>
std::vector<ExchangeMessage> messages_of(const ByRank<T>& sent) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>,
                "the elements of an exchange are trivially copyable, and not bool: use unsigned char");
  std::vector<ExchangeMessage> messages;
  for (const auto& [to, elements] : sent) {
    messages.push_back({.to = to, .data = elements.data(), .bytes = static_cast<Count>(elements.size() * sizeof(T))});
  }
  return messages;
}

template <typename T>
ExchangePlace place_in(std::shared_ptr<ByRank<T>> received) {
  return [received = std::move(received)](Rank from, Count bytes) -> void* {
    constexpr auto size = static_cast<Count>(sizeof(T));
    if (bytes % size != 0) return nullptr;
    std::vector<T>& elements = (*received)[from];
    elements.resize(static_cast<std::size_t>(bytes / size));
    if (elements.empty()) elements.reserve(1);  // an address for no elements
    return elements.data();
  };
}

}  // namespace detail

/// An exchange under way. Used by one thread at a time. Its end waits for the exchange.
template <typename T>
class [[nodiscard]] Exchange {
 public:
  /// Begins it by `begin(messages, place)`, which returns a Request.
  template <typename Begin>
  Exchange(ByRank<T> sent, const Begin& begin)
      : data_(std::make_shared<Data>(Data{std::move(sent), {}})),
        request_(begin(detail::messages_of(data_->sent),
                       detail::place_in(std::shared_ptr<ByRank<T>>(data_, &data_->received)))) {}
  Exchange(Exchange&&) noexcept = default;
  Exchange& operator=(Exchange&&) = delete;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() = default;

  /// True if it is over. Never waits. Throws as wait().
  [[nodiscard]] bool test() { return request_.test(); }
  /// Waits, and gives the elements from each source, once.
  [[nodiscard]] ByRank<T> wait() {
    request_.wait();
    return std::move(data_->received);
  }

 private:
  struct Data {
    ByRank<T> sent, received;
  };
  std::shared_ptr<Data> data_;
  Request request_;  // ends before the data
};

namespace detail {
template <typename C>
Request begin_exchange(ReferenceTo<C> comm, std::vector<ExchangeMessage> sent, ExchangePlace place, ExchangeBy by) {
  using Traits = CommunicatorTraits<std::remove_cvref_t<C>>;
  constexpr bool known = requires { Traits::exchange(comm, std::move(sent), std::move(place), by); };
  static_assert(known, "only communicators of MPI have exchanges");
  if constexpr (known) return Traits::exchange(comm, std::move(sent), std::move(place), by);
  return {};
}
}  // namespace detail

/// The elements from each source. Those of `sent` go to the ranks by which they are found.
template <typename T, BlockingCommunicator C>
[[nodiscard]] ByRank<T> sparse_exchange(const ByRank<T>& sent, C&& comm, ExchangeBy by = ExchangeBy::consensus) {
  const auto received = std::make_shared<ByRank<T>>();
  detail::begin_exchange<C>(comm, detail::messages_of(sent), detail::place_in(received), by).wait();
  return std::move(*received);
}

/// The same without waiting.
template <typename T, typename C>
[[nodiscard]] Exchange<T> sparse_exchange(ByRank<T> sent, Nonblocking<C> comm, ExchangeBy by = ExchangeBy::consensus) {
  return {std::move(sent), [&](std::vector<ExchangeMessage> messages, ExchangePlace place) {
            return detail::begin_exchange<C>(comm.comm, std::move(messages), std::move(place), by);
          }};
}

}  // namespace circoll
