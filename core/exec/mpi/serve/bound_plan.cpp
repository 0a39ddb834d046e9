#include "exec/mpi/serve/bound_plan.hpp"

#include "exec/mpi/comm/carrier.hpp"

namespace circoll::mpi {

BoundPlan::BoundPlan(const Signature& signature, std::uint64_t hash, MPI_Datatype type, const TypeInfo& info,
                     const Placement& placement)
    : PreparedCall(signature, hash, placement, tag_layout().most_tags()),
      memory_bytes_(sizeof(BoundPlan) + prepared_bytes()) {
  if (!has_plan()) return;
  messages_ = std::make_unique<MessageTable>(plan(), type, info);
  memory_bytes_ += plan().steps.size() * sizeof(Message);
  give_back(take_execution());
}

void BoundPlan::enter_cache(prepare::CacheAccount& account) {
  const std::lock_guard lock(mutex_);
  account_ = &account;
  account.bytes += memory_bytes_;
}

void BoundPlan::leave_cache() {
  const std::lock_guard lock(mutex_);
  if (account_ != nullptr) account_.load()->bytes -= memory_bytes_;
  account_ = nullptr;
}

void BoundPlan::add_memory(std::size_t bytes) {
  memory_bytes_ += bytes;
  if (prepare::CacheAccount* const account = account_) account->bytes += bytes;
}

void BoundPlan::remove_memory(std::size_t bytes) {
  memory_bytes_ -= bytes;
  if (prepare::CacheAccount* const account = account_) account->bytes -= bytes;
}

std::unique_ptr<Execution> BoundPlan::take_execution() {
  const std::lock_guard lock(mutex_);
  if (!idle_.empty()) {
    std::unique_ptr<Execution> execution = std::move(idle_.back());
    idle_.pop_back();
    return execution;
  }
  idle_.reserve(executions_ + 1);  // so that give_back() does not allocate
  auto execution = std::make_unique<Execution>(plan(), *messages_);
  ++executions_;
  add_memory(execution->memory_bytes());
  return execution;
}

void BoundPlan::give_back(std::unique_ptr<Execution> execution) noexcept {
  const std::lock_guard lock(mutex_);
  const prepare::CacheAccount* const account = account_;
  if (executions_ > 1 && account != nullptr && account->exceeded()) {
    --executions_;
    remove_memory(execution->memory_bytes());
    return;
  }
  idle_.push_back(std::move(execution));
}

}  // namespace circoll::mpi
