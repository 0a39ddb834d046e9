// Prepared calls that run over MPI: how each message meets MPI, and executions. The choices and bound plans of the
// process: communicators that are alike share them.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/message/execution.hpp"
#include "prepare/choices.hpp"
#include "prepare/plan_cache.hpp"
#include "prepare/prepared_call.hpp"

namespace circoll::mpi {

using prepare::InternedChoice;
using prepare::Signature;

/// Everything prepared for one signature. Communicators that are alike share it. Owns MPI datatypes:
/// destroyed before MPI_Finalize.
class BoundPlan : public prepare::PreparedCall {
 public:
  /// Prepares a signature. `type` is the datatype of head.type_id, described by `info`. Throws as PreparedCall.
  BoundPlan(const Signature& signature, std::uint64_t hash, MPI_Datatype type, const TypeInfo& info,
            const Placement& placement);

  /// Counts its memory in the account until leave_cache(). Thread-safe.
  void enter_cache(prepare::CacheAccount& account);
  void leave_cache();
  /// True if a call of the signature would find it.
  [[nodiscard]] bool cached() const { return account_ != nullptr; }

  /// An execution for one operation, which gives it back later. Several may be out. Thread-safe. Allocates only if more
  /// are out than ever before, or if the cache was too full to keep one that came back.
  [[nodiscard]] std::unique_ptr<Execution> take_execution();
  void give_back(std::unique_ptr<Execution> execution) noexcept;
  [[nodiscard]] Count staging_bytes() const { return messages_->staging_bytes(); }

 private:
  void add_memory(std::size_t bytes);
  void remove_memory(std::size_t bytes);

  std::unique_ptr<MessageTable> messages_;
  std::mutex mutex_;  // of all that follows
  std::vector<std::unique_ptr<Execution>> idle_;
  std::size_t executions_ = 0;
  std::size_t memory_bytes_ = 0;  // of everything
  std::atomic<prepare::CacheAccount*> account_{nullptr};
};

/// The rule for the messages of a rank's plan.
[[nodiscard]] PartsRule parts_rule(const Placement& placement, Rank rank);

/// The plan of a signature, made if there is none. It is nullptr if another thread is just looking for one and `wait`
/// is false. CIRCOLL_CACHE_BYTES bounds what is kept. Thread-safe. Throws as BoundPlan.
[[nodiscard]] std::shared_ptr<BoundPlan> find_plan(const Signature& signature, MPI_Datatype type, const TypeInfo& info,
                                                   const Placement& placement, bool wait);

/// The interned form of a choice for a collective. A policy must live as long as the process. Throws what
/// parse_selection throws. A repeated choice costs a comparison and allocates nothing. Thread-safe.
[[nodiscard]] const InternedChoice* intern(Collective collective, const Choice& choice,
                                           prepare::Sums sums = prepare::Sums::plain);

}  // namespace circoll::mpi
