// What the executor keeps with a user's communicator.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"
#include "exec/mpi/bound_plan.hpp"
#include "exec/mpi/native_calls.hpp"
#include "exec/mpi/plan_cache.hpp"
#include "exec/mpi/spin_lock.hpp"
#include "exec/mpi/tag_slots.hpp"

namespace circoll::mpi {

class KeptOperations;
class RecentCalls;

/// Attached to the user's communicator as an attribute at its first served call, which is collective on all
/// ranks; freed with it, or at MPI_Finalize. Like the communicator it is used by one thread at a time, and by the one that
/// advances nonblocking operations (progress.hpp). Operations that are under way keep it when the communicator is freed.
class CommState {
 public:
  /// Whether a state may be made, which all ranks take part in.
  enum class Opening {
    now,
    early,  ///< before it is needed, as long as there are plenty of private communicators
    local,  ///< only if the communicator has no other ranks: nonblocking calls must not wait for them
  };
  /// The state of a communicator; made if there is none. nullptr if it was not made, and an MPI error code if that failed.
  [[nodiscard]] static CommState* of(MPI_Comm comm, int* error, Opening opening = Opening::now);

  /// The state of a communicator if it is among those that this thread has used last; else nullptr, without asking MPI.
  [[nodiscard]] static CommState* last_used(MPI_Comm comm);

  ~CommState();
  CommState(const CommState&) = delete;
  CommState& operator=(const CommState&) = delete;

  /// False for intercommunicators, and once MPI_Finalize has begun: calls are native then.
  [[nodiscard]] bool usable() const { return usable_; }
  /// Why not; the same on all ranks.
  [[nodiscard]] std::string_view unusable_reason() const { return unusable_reason_; }
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] Rank size() const { return size_; }
  /// The private communicator of our messages: same ranks, no attributes, no topology; errors are returned.
  [[nodiscard]] MPI_Comm comm() const { return comm_; }

  /// Executions are numbered in the order in which the program calls, which is the same on all ranks.
  std::uint64_t take_number() { return next_number_++; }
  /// The tags of an execution: `base` + step tag modulo `span`, so that those under way at the same time never meet.
  struct Tags {
    int base = 0;
    std::uint32_t span = 1;
  };
  [[nodiscard]] Tags tags_of(std::uint64_t number) const;
  /// Messages between two ranks in one direction that an execution may have before tags repeat within it.
  [[nodiscard]] std::uint32_t tag_span() const { return tag_span_; }

  /// Tags come again after some thousands of executions. An execution may start once no unfinished one has its tags; then
  /// no other rank mixes them up either, since messages of one tag arrive in the order of sending. Thread-safe.
  [[nodiscard]] bool may_start(std::uint64_t number);
  /// A nonblocking operation whose first execution has this number is under way; is over. Thread-safe.
  void add_unfinished(std::uint64_t number);
  void remove_unfinished(std::uint64_t number);

  /// Tags for `count` executions that come again and again, of one operation; -1 if there are none. Called by all ranks in
  /// the same order; communicates if many have been reserved before. The caller gives them back; thread-safe. Throws
  /// Error(transport).
  [[nodiscard]] int reserve(int count);
  void unreserve(int slot, int count) noexcept;
  [[nodiscard]] Tags reserved_tags(int slot) const;

  /// Calls that were left to the MPI library.
  [[nodiscard]] NativeCalls& native_calls() { return native_calls_; }
  /// The last blocking calls that were served.
  [[nodiscard]] RecentCalls& recent() { return *recent_; }
  /// Nonblocking operations that are over.
  [[nodiscard]] KeptOperations& kept() { return *kept_; }

  /// Calls the error handler of the user's communicator, or of MPI_COMM_WORLD if that has been freed.
  void call_errhandler(int error) const { PMPI_Comm_call_errhandler(user_comm_, error); }

  /// Keeps the object alive until release(), although the communicator is freed. Thread-safe.
  void retain() { ++users_; }
  void release();
  /// Deletes what was released for the last time at a moment when MPI could not be called.
  static void bury_released();

  /// The plan of a signature, or nullptr if another thread is just looking for one and `wait` is false.
  [[nodiscard]] std::shared_ptr<BoundPlan> find_plan(const Signature& signature, MPI_Datatype type,
                                                     const TypeInfo& info, bool wait);
  /// What a prologue has learned: p counts (gatherv, scatterv), or those of its known blocks (alltoallv); reused.
  [[nodiscard]] std::vector<Count>& counts() { return counts_; }

  /// Gives back everything that belongs to MPI; the object itself stays. Called at MPI_Finalize.
  void close();

 private:
  CommState();
  int open(MPI_Comm comm, int most_private);
  void free_private();
  static int forget(MPI_Comm comm, int keyval, void* value, void* extra);
  static int finalize(MPI_Comm comm, int keyval, void* value, void* extra);
  static int create_keyvals();

  bool usable_ = false;
  std::string_view unusable_reason_ = "an intercommunicator";
  Rank rank_ = 0;
  Rank size_ = 1;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm user_comm_ = MPI_COMM_WORLD;
  Placement placement_{};
  std::uint32_t tag_span_ = 1;
  std::uint32_t tag_epochs_ = 1;  ///< of numbers; the tags above are for reserve()
  std::uint64_t next_number_ = 0;
  SpinLock unfinished_lock_;               // of the next, which seldom grows
  std::vector<std::uint64_t> unfinished_;  // ascending
  std::atomic<std::size_t> unfinished_count_{0};
  std::atomic<int> users_{1};  // the attribute, and operations
  std::mutex slots_mutex_;
  TagSlots slots_{0};
  std::mutex plans_mutex_;
  PlanCache plans_;
  NativeCalls native_calls_;
  std::unique_ptr<RecentCalls> recent_;
  std::unique_ptr<KeptOperations> kept_;
  std::vector<Count> counts_;
  std::list<CommState*>::iterator position_{};
};

}  // namespace circoll::mpi
