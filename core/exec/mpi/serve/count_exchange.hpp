// The exchange of counts before the data of a call (gatherv, scatterv, some of alltoallv).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "exec/mpi/call/caller_buffers.hpp"
#include "exec/mpi/message/arena.hpp"
#include "exec/mpi/serve/bound_plan.hpp"

namespace circoll::mpi {

/// The counts, in packed bytes, of all blocks that will pass through this rank. There are p of gatherv and scatterv; of
/// alltoallv there are those of the prologue's known blocks.
class CountExchange {
 public:
  /// `counts` is memory for what is learned. It outlives the object.
  explicit CountExchange(std::vector<Count>& counts) : counts_(counts) {}

  /// Sets the plan of the prologue; nullptr: the counts of others are not needed.
  void set_plan(std::shared_ptr<BoundPlan> plan) { plan_ = std::move(plan); }
  [[nodiscard]] const std::shared_ptr<BoundPlan>& plan() const { return plan_; }
  /// True if the counts must be exchanged before the data. They are kept once a start has learned them.
  [[nodiscard]] bool due() const { return plan_ != nullptr && !known_; }
  void set_known() { known_ = true; }

  /// Makes the memory and the binding of the exchange ready.
  void bind(CallerBuffers& user, Rank size, Arena& memory, Binding& binding);
  /// Takes what has arrived. Gives the memory back.
  void collect(CallerBuffers& user, Arena& memory);
  /// Puts the counts into the signature of the data.
  void add_to(Signature& signature) const;

 private:
  std::vector<Count>& counts_;
  std::shared_ptr<BoundPlan> plan_{};
  bool known_ = false;
  std::span<Count> send_{}, recv_{}, scratch_{};  ///< in the operation's memory
};

}  // namespace circoll::mpi
