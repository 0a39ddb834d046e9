// A call signature, and what was prepared for it: the plan, how each message meets MPI, and an execution.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/plan.hpp"
#include "exec/mpi/call.hpp"
#include "exec/mpi/choices.hpp"
#include "exec/mpi/datatype.hpp"
#include "exec/mpi/execution.hpp"
#include "plan/count_prologue.hpp"

namespace circoll::mpi {

/// The part of a signature that has a fixed size.
struct SignatureHead {
  const Interned* choice = nullptr;
  std::uint64_t type_id = 0;  ///< of the datatype that messages carry; 0 for bytes
  Count count = 0;            ///< plan elements per user block, if uniform
  Count extent_bytes = 1;     ///< of a plan element
  Collective collective = Collective::barrier;
  int root = 0;
  bool in_place = false;  ///< as the schedule sees it
  bool prologue = false;  ///< the exchange of counts that precedes gatherv and scatterv
  bool has_counts = false;
  bool has_send_displs = false;
  bool has_recv_displs = false;
  bool commutative = true;
  bool idempotent = false;
  bool exact = true;
  bool predefined = true;

  friend bool operator==(const SignatureHead&, const SignatureHead&) = default;
};

/// A signature as it comes with a call: arrays are the caller's, in units of `unit` plan elements.
struct Signature {
  SignatureHead head{};
  CountArray counts{};
  Count counts_unit = 1;
  CountArray displs{};
  Count displs_unit = 1;
  Rank size = 1;

  [[nodiscard]] std::uint64_t hash() const;
  [[nodiscard]] Count count_of(Rank i) const { return counts[i] * counts_unit; }
  [[nodiscard]] Count displ_of(Rank i) const { return displs[i] * displs_unit; }
  [[nodiscard]] bool has_displs() const { return head.has_send_displs || head.has_recv_displs; }
  /// Plan elements of all user blocks, times their extent.
  [[nodiscard]] Count total_bytes() const;
};

/// Everything prepared for one signature on one communicator. Owns MPI datatypes: destroyed before
/// MPI_Finalize.
class BoundPlan {
 public:
  /// Prepares a signature. `type` is the datatype of head.type_id, `wire_bytes` the packed size of a plan
  /// element. A call that Circoll does not serve gives an object without a plan and with a reason; the
  /// decision depends on values only that are equal on all ranks. Throws Error on anything else.
  BoundPlan(const Signature& signature, std::uint64_t hash, Rank rank, MPI_Datatype type, const TypeInfo& info,
            std::uint32_t tag_span);

  [[nodiscard]] bool matches(const Signature& signature) const;
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::size_t memory_bytes() const { return memory_bytes_; }

  /// nullptr if the call is native.
  [[nodiscard]] Execution* execution() { return execution_.get(); }
  [[nodiscard]] const Plan& plan() const { return prologue_ ? prologue_->plan() : plan_; }
  [[nodiscard]] const CountPrologue& prologue() const { return *prologue_; }
  [[nodiscard]] Count staging_bytes() const { return messages_->staging_bytes(); }
  [[nodiscard]] const Selection& selection() const { return selection_; }
  [[nodiscard]] const std::string& native_reason() const { return native_reason_; }

 private:
  void build(const Signature& signature, Rank rank, MPI_Datatype type, const TypeInfo& info);
  [[nodiscard]] bool select(const Signature& signature, std::uint32_t tag_span);

  SignatureHead head_;
  std::uint64_t hash_ = 0;
  std::vector<Count> counts_;
  std::vector<Count> displs_;
  Selection selection_{};
  std::string native_reason_;
  Plan plan_{};
  std::unique_ptr<CountPrologue> prologue_;
  std::unique_ptr<MessageTable> messages_;
  std::unique_ptr<Execution> execution_;
  std::size_t memory_bytes_ = 0;
};

}  // namespace circoll::mpi
