#include "exec/mpi/serve/bound_plan.hpp"

#include "exec/mpi/comm/carrier.hpp"
#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/library/library.hpp"
#include "facts/environment.hpp"
#include "facts/text.hpp"

namespace circoll::mpi {
namespace {

constexpr Count default_cache_bytes = Count{64} << 20;

std::size_t cache_limit() {
  const auto text = environment("CIRCOLL_CACHE_BYTES");
  return static_cast<std::size_t>(text ? parse_bytes(*text).value_or(default_cache_bytes) : default_cache_bytes);
}

/// Part of the executor's global state (HACKING.md).
struct Plans {
  std::mutex mutex;
  prepare::PlanCache<BoundPlan> cache{cache_limit()};
};

void forget_plans() noexcept;

/// Never destroyed: MPI may be gone before.
Plans& plans() {
  static auto* const instance = [] {
    at_finalize(forget_plans);
    return new Plans;
  }();
  return *instance;
}

void forget_plans() noexcept {
  const std::lock_guard lock(plans().mutex);
  plans().cache.clear();
}

/// Part of the executor's global state (HACKING.md).
prepare::Choices& choices() {
  static auto* const instance = new prepare::Choices;
  return *instance;
}

}  // namespace

PartsRule parts_rule(const Placement& placement, Rank rank) {
  return {.bytes = globals().part_bytes,
          .node_of = placement.node_of.get(),
          .rank = rank,
          .most_messages = static_cast<std::uint32_t>(tag_layout().unit)};
}

BoundPlan::BoundPlan(const Signature& signature, std::uint64_t hash, MPI_Datatype type, const TypeInfo& info,
                     const Placement& placement)
    : PreparedCall(signature, hash, placement, tag_layout().most_tags()),
      memory_bytes_(sizeof(BoundPlan) + prepared_bytes()) {
  if (!has_plan()) return;
  messages_ = std::make_unique<MessageTable>(plan(), type, info, parts_rule(placement, signature.head.rank));
  memory_bytes_ += messages_->memory_bytes();
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

std::shared_ptr<BoundPlan> find_plan(const Signature& signature, MPI_Datatype type, const TypeInfo& info,
                                     const Placement& placement, bool wait) {
  std::unique_lock lock(plans().mutex, std::defer_lock);
  if (wait) {
    lock.lock();
  } else if (!lock.try_lock()) {
    return nullptr;
  }
  return plans().cache.find(signature, [&](std::uint64_t hash) {
    return std::make_shared<BoundPlan>(signature, hash, type, info, placement);
  });
}

const InternedChoice* intern(Collective collective, const Choice& choice, prepare::Sums sums) {
  CIRCOLL_THREAD_LOCAL prepare::LastChoices last{};
  return choices().intern(collective, choice, last, sums);
}

}  // namespace circoll::mpi
