// What the executor keeps with a user's communicator.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <memory>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"
#include "exec/mpi/bound_plan.hpp"
#include "exec/mpi/plan_cache.hpp"

namespace circoll::mpi {

/// Attached to the user's communicator as an attribute at its first served call, which is collective on all
/// ranks; freed with it, or at MPI_Finalize. Like the communicator it is used by one thread at a time.
class CommState {
 public:
  /// The state of a communicator; made now if there is none. nullptr and an MPI error code if that failed.
  [[nodiscard]] static CommState* of(MPI_Comm comm, int* error);

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

  /// The tags of the next execution: `base` + step tag modulo `span`. Executions are numbered in the order in
  /// which they start, which is the same on all ranks, so that those under way at the same time never meet.
  struct Tags {
    int base = 0;
    std::uint32_t span = 1;
  };
  [[nodiscard]] Tags next_tags();
  /// Messages between two ranks in one direction that an execution may have before tags repeat within it.
  [[nodiscard]] std::uint32_t tag_span() const { return tag_span_; }

  [[nodiscard]] PlanCache& plans() { return plans_; }
  /// What a prologue has learned: p counts (gatherv, scatterv), or those of its known blocks (alltoallv); reused.
  [[nodiscard]] std::vector<Count>& counts() { return counts_; }

  /// Gives back everything that belongs to MPI; the object itself stays. Called at MPI_Finalize.
  void close();

 private:
  CommState();
  int open(MPI_Comm comm);
  void free_private();
  static int forget(MPI_Comm comm, int keyval, void* value, void* extra);
  static int finalize(MPI_Comm comm, int keyval, void* value, void* extra);
  static int create_keyvals();

  bool usable_ = false;
  std::string_view unusable_reason_ = "an intercommunicator";
  Rank rank_ = 0;
  Rank size_ = 1;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::uint32_t tag_span_ = 1;
  std::uint32_t tag_epochs_ = 1;
  std::uint32_t epoch_ = 0;
  PlanCache plans_;
  std::vector<Count> counts_;
  std::list<CommState*>::iterator position_{};
};

}  // namespace circoll::mpi
