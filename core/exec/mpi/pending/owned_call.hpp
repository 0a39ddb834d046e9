// Nonblocking and persistent calls whose owner asks them for their end; no MPI request stands for them.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>

#include "exec/mpi/pending/pending_call.hpp"

namespace circoll::mpi {

/// A served call. Its owner keeps it until it is over, and gets its error, for which no handler is called.
class OwnedCall final : public PendingCall {
 public:
  OwnedCall(const Call& call, CommState& state) : PendingCall(call, state, {}) { state.retain(); }
  ~OwnedCall() override { comm_state().release(); }

  /// Begins it, again if it is persistent and over.
  void start() {
    over_.store(false, std::memory_order_relaxed);
    progress().add(*this);
  }
  [[nodiscard]] bool over() const { return over_.load(std::memory_order_acquire); }

  [[nodiscard]] MPI_Request request() const override { return MPI_REQUEST_NULL; }
  void finished() noexcept override { over_.store(true, std::memory_order_release); }

 private:
  std::atomic<bool> over_{false};
};

/// The service of a nonblocking or persistent call: a call of ours, or the library's request.
struct Service {
  std::unique_ptr<OwnedCall> owned{};
  MPI_Request native = MPI_REQUEST_NULL;
};

/// Executes a blocking call, after those that are under way on its communicator. Throws as perform() does with
/// Unserved::refuse, and MpiError.
void execute_owned(const Call& call, const InternedChoice& choice);

/// Begins a nonblocking call, for an owner that calls progress().poll() until it is over. Throws as perform() does with
/// Unserved::refuse, and MpiError.
[[nodiscard]] Service begin_owned(const Call& call, const InternedChoice& choice);

/// Makes a persistent call, to be started. Collective; the rest as begin_owned().
[[nodiscard]] Service init_owned(const Call& call, const InternedChoice& choice);

/// Waits until no nonblocking or persistent call is under way on a communicator.
void finish_owned_calls_on(MPI_Comm comm);
inline void finish_owned_calls(MPI_Comm comm) {
  if (progress().pending() > 0) finish_owned_calls_on(comm);
}

}  // namespace circoll::mpi
