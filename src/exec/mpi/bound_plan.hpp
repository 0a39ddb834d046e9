// A call signature, and what was prepared for it: the plan, how each message meets MPI, and executions.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/plan.hpp"
#include "circoll/relabelling.hpp"
#include "exec/mpi/call.hpp"
#include "exec/mpi/choices.hpp"
#include "exec/mpi/datatype.hpp"
#include "exec/mpi/execution.hpp"
#include "plan/count_prologue.hpp"

namespace circoll::mpi {

/// The part of a signature that has a fixed size.
struct SignatureHead {
  const Interned* choice = nullptr;
  std::uint64_t type_id = 0;            ///< of the datatype that messages carry; 0 for bytes
  Count count = 0;                      ///< plan elements per user block, if uniform
  Count extent_bytes = 1;               ///< of a plan element
  Count message_bytes = 1;              ///< of a plan element in a message: without its gaps
  const Relabelling* labels = nullptr;  ///< of the placement; plans keep it alive
  Rank size = 1;                        ///< p
  Rank rank = 0;
  Rank cores = 1;  ///< of the placement
  Rank nodes = 0;  ///< of the placement, which its labels do not tell
  Collective collective = Collective::barrier;
  int root = 0;
  bool in_place = false;  ///< as the schedule sees it
  bool prologue = false;  ///< the exchange of counts that precedes gatherv, scatterv and some of alltoallv
  bool commutative = true;
  bool idempotent = false;
  bool exact = true;
  bool predefined = true;

  friend bool operator==(const SignatureHead&, const SignatureHead&) = default;
};

/// Numbers that come with a call, in units of `unit` plan elements; none if `size` is 0.
struct Numbers {
  CountArray values{};
  Count unit = 1;
  Rank size = 0;

  [[nodiscard]] Count operator[](Rank i) const { return values[i] * unit; }
};

/// A signature as it comes with a call: arrays are the caller's.
struct Signature {
  SignatureHead head{};
  Numbers counts{};       ///< of the user blocks that differ; alltoallv: of those received, or of `blocks`
  Numbers send_counts{};  ///< alltoallv without prologue: of the blocks sent
  Numbers send_displs{};
  Numbers recv_displs{};
  /// alltoallv after a prologue: the user blocks that `counts` is about. Follows from the head and the rank.
  std::span<const Block> blocks{};

  [[nodiscard]] std::array<const Numbers*, 4> arrays() const {
    return {&counts, &send_counts, &send_displs, &recv_displs};
  }
  [[nodiscard]] std::uint64_t hash() const;
  /// What decides about algorithm and segments: bytes of the whole vector, equal on all ranks (select.hpp).
  [[nodiscard]] Count vector_bytes() const;
};

/// Bytes of the plans of one cache.
struct CacheAccount {
  std::size_t limit_bytes = 0;
  std::atomic<std::size_t> bytes{0};

  [[nodiscard]] bool exceeded() const { return bytes > limit_bytes; }
};

/// Everything prepared for one signature. It knows nothing of the communicator but the signature, so that communicators share
/// it. Owns MPI datatypes: destroyed before MPI_Finalize.
class BoundPlan {
 public:
  /// Prepares a signature. `type` is the datatype of head.type_id, `wire_bytes` the packed size of a plan
  /// element. A call that Circoll does not serve gives an object without a plan and with a reason; the
  /// decision depends on values only that are equal on all ranks. Throws Error on anything else.
  BoundPlan(const Signature& signature, std::uint64_t hash, MPI_Datatype type, const TypeInfo& info,
            const Placement& placement);

  [[nodiscard]] bool matches(const Signature& signature) const;
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  /// What it takes goes into the account until leave_cache(). Thread-safe.
  void enter_cache(CacheAccount& account);
  void leave_cache();
  /// Whether a call of the signature would find it.
  [[nodiscard]] bool cached() const { return account_ != nullptr; }

  /// False if the call is native, or nothing is to be executed: the prologue of a direct algorithm.
  [[nodiscard]] bool executable() const { return messages_ != nullptr; }
  /// An execution for one operation, which gives it back when it needs it no more. Several may be out. Thread-safe;
  /// allocates only if more are out than ever before, or if the cache was too full to keep what came back.
  [[nodiscard]] std::unique_ptr<Execution> take_execution();
  void give_back(std::unique_ptr<Execution> execution) noexcept;
  [[nodiscard]] const Plan& plan() const { return prologue_ ? prologue_->plan() : plan_; }
  /// nullptr if this is no prologue, or one that the algorithm does not need: it is direct.
  [[nodiscard]] const CountPrologue* prologue() const { return prologue_.get(); }
  [[nodiscard]] Count staging_bytes() const { return messages_->staging_bytes(); }
  [[nodiscard]] const Selection& selection() const { return selection_; }
  /// Tags that an execution wants, so that messages of one pair of ranks do not have the same; equal on all ranks.
  [[nodiscard]] int tags() const { return tags_; }
  /// Why the policy chose selection(); empty if the call is native.
  [[nodiscard]] const std::string& why() const { return why_; }
  /// Why the call is native; empty if it is served.
  [[nodiscard]] const std::string& native_reason() const { return native_reason_; }

 private:
  [[nodiscard]] std::array<std::vector<Count>*, 4> arrays() {
    return {&counts_, &send_counts_, &send_displs_, &recv_displs_};
  }
  [[nodiscard]] std::array<const std::vector<Count>*, 4> arrays() const {
    return {&counts_, &send_counts_, &send_displs_, &recv_displs_};
  }
  [[nodiscard]] Layout layout_of(const Signature& signature, const Schedule& schedule) const;
  void build(const Signature& signature, MPI_Datatype type, const TypeInfo& info);
  [[nodiscard]] bool select(const Signature& signature);
  void add_memory(std::size_t bytes);
  void remove_memory(std::size_t bytes);

  SignatureHead head_;
  std::uint64_t hash_ = 0;
  /// Copies of Signature::arrays().
  std::vector<Count> counts_, send_counts_, send_displs_, recv_displs_;
  Placement placement_;
  Selection selection_{};
  int tags_ = 1;
  std::string why_;
  std::string native_reason_;
  Plan plan_{};
  std::unique_ptr<CountPrologue> prologue_;
  std::unique_ptr<MessageTable> messages_;
  std::mutex mutex_;  // of all that follows
  std::vector<std::unique_ptr<Execution>> idle_;
  std::size_t executions_ = 0;
  std::size_t memory_bytes_ = 0;  // of everything
  std::atomic<CacheAccount*> account_{nullptr};
};

}  // namespace circoll::mpi
