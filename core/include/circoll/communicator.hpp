// Communicators as the typed API sees them: the execution of calls, and the ways to begin them without waiting.
#pragma once

#include <type_traits>

#include "circoll/buffers.hpp"
#include "circoll/call.hpp"
#include "circoll/request.hpp"
#include "circoll/types.hpp"

namespace circoll {

/// Execution of calls on a communicator of type C. A specialization has
///   Reference                      the type by which the communicator is passed on
///   Operator                       the type of operators, which Op and UserOperator convert to
///   Result                         void, or Request
///   rank(Reference), size(Reference)
///   execute(Reference, CollectiveCall&, const Operator*, const Choice&)
/// and, for nonblocking() and persistent(), begin() and init() as execute(), which return a Request. The operator is
/// null where the collective has none. Communicators with a topology have
///   neighbors(Reference)           the blocks of collectives among neighbours, as NeighborCounts
template <typename C>
struct CommunicatorTraits;

template <typename C>
concept Communicator = requires {
  typename CommunicatorTraits<std::remove_cvref_t<C>>::Reference;
};

/// A communicator on which calls wait for their end.
template <typename C>
concept BlockingCommunicator =
    Communicator<C> && std::is_void_v<typename CommunicatorTraits<std::remove_cvref_t<C>>::Result>;

template <typename C>
using ReferenceTo = typename CommunicatorTraits<std::remove_cvref_t<C>>::Reference;
template <typename C>
using OperatorOn = typename CommunicatorTraits<std::remove_cvref_t<C>>::Operator;
template <typename C>
using ResultOn = typename CommunicatorTraits<std::remove_cvref_t<C>>::Result;

/// A communicator on which calls begin and return a Request; made by nonblocking().
template <typename C>
struct Nonblocking {
  ReferenceTo<C> comm;  ///< whose calls return a Request
};

/// A communicator on which calls are prepared and return an inactive Request; made by persistent().
template <typename C>
struct Persistent {
  ReferenceTo<C> comm;  ///< whose calls return a persistent Request
};

/// The communicator as an argument of calls that are to return at once. Collective, as the blocking calls.
template <BlockingCommunicator C>
[[nodiscard]] Nonblocking<std::remove_cvref_t<C>> nonblocking(C&& comm) {
  return {comm};
}

/// The communicator as an argument of calls that are to be started again and again by Request::start(). Making a
/// persistent call is collective and may wait for the other ranks. Ranks start persistent calls in the same order.
template <BlockingCommunicator C>
[[nodiscard]] Persistent<std::remove_cvref_t<C>> persistent(C&& comm) {
  return {comm};
}

/// The common part of the traits of Nonblocking<C> and Persistent<C>, which are called Form here.
template <typename C, typename Form>
struct RequestingTraits {
  using Reference = Form;
  using Operator = OperatorOn<C>;
  using Result = Request;
  static Rank rank(Reference c) { return CommunicatorTraits<C>::rank(c.comm); }
  static Rank size(Reference c) { return CommunicatorTraits<C>::size(c.comm); }
  template <typename Comm = C>
  static auto neighbors(Reference c) -> decltype(CommunicatorTraits<Comm>::neighbors(c.comm)) {
    return CommunicatorTraits<Comm>::neighbors(c.comm);
  }
};

template <typename C>
struct CommunicatorTraits<Nonblocking<C>> : RequestingTraits<C, Nonblocking<C>> {
  static Request execute(Nonblocking<C> c, CollectiveCall& call, const OperatorOn<C>* op, const Choice& choice) {
    return CommunicatorTraits<C>::begin(c.comm, call, op, choice);
  }
};

template <typename C>
struct CommunicatorTraits<Persistent<C>> : RequestingTraits<C, Persistent<C>> {
  static Request execute(Persistent<C> c, CollectiveCall& call, const OperatorOn<C>* op, const Choice& choice) {
    return CommunicatorTraits<C>::init(c.comm, call, op, choice);
  }
};

}  // namespace circoll
