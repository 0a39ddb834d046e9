#include "exec/mpi/pending/nonblocking.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "circoll/error.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/pending/pending_call.hpp"
#include "exec/mpi/pending/progress.hpp"
#include "exec/mpi/serve/known_calls.hpp"
#include "facts/spin_lock.hpp"

namespace circoll::mpi {
namespace {

/// Nonblocking operations on a communicator that are over, ready for calls like theirs. They are the counterpart of
/// KnownCalls. The thread that advances operations keeps them here, and the program takes them. Thread-safe. Callers
/// delete an operation that has no place any more.
class FinishedOperations final : public Attachment {
 public:
  static constexpr Slot slot = Slot::operations;

  FinishedOperations() = default;
  ~FinishedOperations() override { FinishedOperations::clear(); }

  /// Returns nullptr, or one that has no place any more.
  [[nodiscard]] std::unique_ptr<Pending> keep(std::unique_ptr<Pending> pending) noexcept {
    std::unique_ptr<Pending> before(last_.exchange(pending.release()));
    return before == nullptr ? nullptr : keep_longer(std::move(before));
  }
  /// One that meets a condition, or nullptr.
  template <typename Condition>
  [[nodiscard]] std::unique_ptr<Pending> take(Condition&& condition) {
    std::unique_ptr<Pending> displaced;
    if (std::unique_ptr<Pending> last(last_.exchange(nullptr)); last != nullptr) {
      if (condition(*last)) return last;
      displaced = keep_longer(std::move(last));
    }
    const std::lock_guard lock(lock_);
    for (std::unique_ptr<Pending>& kept : others_) {
      if (kept != nullptr && condition(*kept)) return std::move(kept);
    }
    return nullptr;
  }
  void clear() noexcept override {
    std::unique_ptr<Pending>(last_.exchange(nullptr)).reset();
    for (std::unique_ptr<Pending>& kept : others_) kept.reset();
  }

 private:
  [[nodiscard]] std::unique_ptr<Pending> keep_longer(std::unique_ptr<Pending> pending) noexcept {
    const std::lock_guard lock(lock_);
    const auto free = std::find(others_.begin(), others_.end(), nullptr);
    std::unique_ptr<Pending>& place = free != others_.end() ? *free : others_[next_++ % others_.size()];
    place.swap(pending);
    return pending;
  }

  std::atomic<Pending*> last_{nullptr};  ///< owned; for one call that comes again and again
  SpinLock lock_;                        // of what follows
  std::array<std::unique_ptr<Pending>, 16> others_{};
  std::size_t next_ = 0;
};

class NonblockingCall final : public Nonblocking<PendingCall> {
 public:
  using Nonblocking::Nonblocking;

 private:
  void retire(int error) noexcept override {
    std::unique_ptr<Pending> self(this);
    // Its own handles of datatypes are no program's, and to look at those calls MPI.
    if (error == MPI_SUCCESS && operation().repeatable() && operation().repeatable_with_counts())
      self = comm_state().attached<FinishedOperations>().keep(std::move(self));
  }
};

CallResult native(const Call& call, MPI_Request* request, std::string_view reason, Count bytes = 0) {
  return native_outcome(start_native(call, request), reason, bytes);
}

/// An operation for a call, prepared. One that is used again keeps the tag of its request: messages of one tag are
/// received in the order of the receives, and it is over before it is used again.
std::unique_ptr<NonblockingCall> make(const Call& call, CommState& state, const InternedChoice& choice,
                                      const Observer& observer) {
  // Only objects of this class are kept.
  const CallShape shape(call, state.rank(), state.size());
  auto kept = state.attached<FinishedOperations>().take(
      [&](Pending& pending) { return static_cast<NonblockingCall&>(pending).again(call, shape, choice); });
  if (kept != nullptr) {
    std::unique_ptr<NonblockingCall> known(static_cast<NonblockingCall*>(kept.release()));
    known->set_observer(observer);
    return known;
  }
  auto made = std::make_unique<NonblockingCall>(call, state, observer);
  if (made->operation().erroneous()) state.missed_call();
  (void)made->operation().prepare(choice);
  return made;
}

/// `asked`: the collective that the program has called.
CallResult start_on(CommState& state, const Call& call, const InternedChoice& choice, MPI_Request* request,
                    const Observer& observer, const CalledCollective& asked) {
  auto pending = make(call, state, choice, observer);
  pending->set_collective(asked);
  Operation& operation = pending->operation();
  if (!operation.served()) {
    remember_native(state, call, choice, operation);
    return native(call, request, operation.reason(), operation.bytes());
  }
  if (const int rc = state.begin_open(); rc != MPI_SUCCESS) return CallResult{.error = rc, .handled = true};
  if (const int rc = pending->make_request(request); rc != MPI_SUCCESS) return CallResult{.error = rc};
  operation.take_numbers();
  CallResult outcome{.by = keep_served(operation.plan()), .bytes = operation.bytes()};
  NonblockingCall::add(std::move(pending), request);
  return outcome;
}

}  // namespace

CallResult start(const Call& call, const InternedChoice& choice, MPI_Request* request, const Observer& observer) {
  if (const NativeCall* known = known_native(call, choice)) {
    return native(call, request, known->reason, known->bytes);
  }
  const FoundCommunicator found = find_communicator(call, choice, true);
  if (found.error != MPI_SUCCESS) return CallResult{.error = found.error, .handled = true};
  if (!found.native_reason.empty()) return native(call, request, found.native_reason);
  if (!found.state->serves_nonblocking()) {
    return native(call, request, "its communicator has no tags yet, and the call must not wait for the other ranks");
  }
  if (const std::string_view reason = unanswered(call, *found.state); !reason.empty()) {
    return native(call, request, reason);
  }
  CommState::bury_released();
  if (self_communicator() == MPI_COMM_NULL)
    throw Error(ErrorCode::transport, "MPI could not make a private communicator");
  return with_memory(*found.state, [&] {
    const RewrittenCall rewritten(call, choice, *found.state);
    if (const NativeCall* known = rewritten.known().native) {
      return native(rewritten.call(), request, known->reason, known->bytes);
    }
    return start_on(*found.state, rewritten.call(), rewritten.choice(), request, observer, called(call));
  });
}

bool cancel_nonblocking(MPI_Request request, int* error) {
  if (!progress().owns(request)) return false;
  *error = MPI_ERR_REQUEST;
  PMPI_Comm_call_errhandler(base_world(), *error);
  return true;
}

}  // namespace circoll::mpi
