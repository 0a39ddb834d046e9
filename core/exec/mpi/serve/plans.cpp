#include "exec/mpi/serve/plans.hpp"

#include <mutex>

#include "exec/mpi/comm/globals.hpp"
#include "facts/environment.hpp"
#include "facts/text.hpp"
#include "prepare/plan_cache.hpp"

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

}  // namespace

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

}  // namespace circoll::mpi
