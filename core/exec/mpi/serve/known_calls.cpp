#include "exec/mpi/serve/known_calls.hpp"

#include <new>

#include "exec/mpi/call/caller_buffers.hpp"
#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {

std::optional<Call> as_reduce(const Call& call, Rank rank, Rank size) {
  if (call.collective != Collective::reduce_scatter || !call.recvcounts) return std::nullopt;
  Rank root = -1;
  for (Rank i = 0; i < size; ++i) {
    const Count count = call.recvcounts[i];
    if (count == 0) continue;
    if (count < 0 || root >= 0) return std::nullopt;
    root = i;
  }
  if (root < 0) return std::nullopt;
  const bool equal = call.sendbuf == call.recvbuf && call.sendbuf != MPI_IN_PLACE;
  if (equal && library::refuses_equal_buffers(call.collective, call.recvbuf, call.recvcounts[root]))
    return std::nullopt;
  Call reduce = call;
  reduce.collective = Collective::reduce;
  reduce.sendcount = call.recvcounts[root];
  reduce.recvcounts = {};
  reduce.root = static_cast<int>(root);
  // In place every rank's contribution is in its receive buffer; in a reduce only the root's may be.
  if (equal || call.sendbuf == MPI_IN_PLACE) reduce.sendbuf = rank == root ? MPI_IN_PLACE : call.recvbuf;
  if (rank != root) reduce.recvbuf = nullptr;
  return reduce;
}

std::optional<Call> with_one_count(const Call& call, Rank size) {
  if (call.collective != Collective::reduce_scatter || !call.recvcounts) return std::nullopt;
  const Count count = call.recvcounts[0];
  if (count <= 0) return std::nullopt;
  for (Rank i = 1; i < size; ++i) {
    if (call.recvcounts[i] != count) return std::nullopt;
  }
  Call key = call;
  key.recvcount = count;
  key.recvcounts = {};
  return key;
}

void remember_native(CommState& state, const Call& call, const InternedChoice& choice, const Operation& operation) {
  const auto remember = [&](const Call& key) {
    try {
      state.attached<KnownCalls>().add_native(CallShape(key, state.rank(), state.size()), choice, operation.plan(),
                                              operation.bytes());
    } catch (const std::bad_alloc&) {
      return;  // it is found out again; the other ranks are in the native call already
    }
  };
  if (operation.repeatable() && !is_irregular(call.collective)) return remember(call);
  if (choice.kind != InternedChoice::Kind::automatic || !operation.repeatable_with_counts()) return;
  if (const auto key = with_one_count(call, state.size())) remember(*key);
}

RewrittenCall::RewrittenCall(const Call& call, const InternedChoice& choice, CommState& state)
    : call_(&call), choice_(&choice) {
  KnownCalls& calls = state.attached<KnownCalls>();
  known_ = calls.find(call, choice, state);
  if (known_.native != nullptr || known_.served != nullptr || call.collective != Collective::reduce_scatter ||
      choice.kind != InternedChoice::Kind::automatic || choice.policy->names_algorithm()) {
    return;
  }
  reduce_ = as_reduce(call, state.rank(), state.size());
  if (reduce_) {
    call_ = &*reduce_;
    choice_ = intern(Collective::reduce, *choice.policy, choice.sums);
    known_ = calls.find(*call_, *choice_, state);
  } else if (const auto key = with_one_count(call, state.size())) {
    known_.native = calls.find(*key, choice, state).native;  // it is a key, and no call to be made
  }
}

}  // namespace circoll::mpi
