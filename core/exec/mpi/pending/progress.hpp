// Advances nonblocking operations while the program does something else in MPI.
//
// A hook in the MPI library's progress engine, or a thread, calls poll() again and again (interpose/progress.hpp).
// Every call that waits inside MPI waits in that engine.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/work.hpp"

namespace circoll::mpi {

/// An operation that Progress brings to its end, instead of its caller. `comm_state` is kept until then.
class Pending {
 public:
  Pending() = default;
  virtual ~Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  [[nodiscard]] virtual Work& operation() = 0;
  [[nodiscard]] virtual CommState& comm_state() = 0;
  /// The request that the program waits for.
  [[nodiscard]] virtual MPI_Request request() const = 0;
  /// Its start has returned to the caller of add().
  virtual void begun() noexcept = 0;
  /// Tells MPI that the operation is over. This is the last use of the object by Progress: it may go at once. Must not
  /// throw.
  virtual void finished() noexcept = 0;

 private:
  friend class Progress;
  bool started_ = false;
};

class Progress {
 public:
  /// Begins a prepared operation with its numbers taken. If there are no tags for it yet, begins it as soon as there
  /// are. Throws std::bad_alloc, and has done nothing then.
  void add(Pending& pending);
  /// Operations that are not over.
  [[nodiscard]] std::size_t pending() const { return pending_.load(std::memory_order_relaxed); }
  /// Asks some operations for news, and others the next time. Returns how many have ended. Does nothing if there are
  /// none, if another thread polls, or if called from within itself. Thread-safe.
  int poll() noexcept;
  /// True if the request is that of an operation which is not over. Not from within poll().
  [[nodiscard]] bool owns(MPI_Request request);
  /// True if an operation of this communicator is not over. Not from within poll().
  [[nodiscard]] bool has(const CommState& state);

  /// For a thread that polls: waits until there is something to do. False: it shall end.
  [[nodiscard]] bool await_pending();
  /// Sets if there is such a thread.
  void set_listening(bool listening);
  /// Ends operations with an error if other ranks on their communicator cannot end theirs. `error_of_lost` returns that
  /// error, or MPI_SUCCESS, and is quick while nothing has failed.
  void set_error_of_lost(int (*error_of_lost)(const CommState&)) { error_of_lost_ = error_of_lost; }

 private:
  /// Operations asked per poll. With thousands outstanding each pass of MPI's engine must stay short.
  static constexpr std::size_t batch = 16;

  /// Polls after which MPI is asked for failures, for some operations each time.
  static constexpr std::uint32_t polls_before_asking = 251;

  /// True if the operation is over.
  [[nodiscard]] static bool advance(Pending& pending, bool asks) noexcept;
  /// An operation that is over and no longer among the active ones.
  void end(Pending& pending) noexcept;
  /// Ends all active operations of a communicator that has failed, before the program learns of the first one. Returns
  /// how many.
  int end_all(CommState& state) noexcept;
  /// True if an operation that is not over meets a condition. Not from within poll().
  template <typename Condition>
  [[nodiscard]] bool any(Condition condition);
  /// Called under mutex_, by the thread that polls.
  void take_arrived() noexcept;

  std::atomic<int (*)(const CommState&)> error_of_lost_{nullptr};
  std::atomic<std::size_t> pending_{0};
  std::atomic<bool> polling_{false};
  std::atomic<bool> listening_{false};
  std::atomic<std::uint32_t> signals_{0};  // changes when the listener shall look again
  std::mutex mutex_;                       // of arrived_
  std::vector<Pending*> arrived_;
  std::vector<Pending*> active_;  // of who polls, in the order of arrival
  std::size_t next_ = 0;
  std::uint32_t polls_ = 0;
};

/// Part of the executor's global state (HACKING.md).
[[nodiscard]] Progress& progress();

}  // namespace circoll::mpi
