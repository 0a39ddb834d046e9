#include "exec/mpi/plans.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "core/environment.hpp"
#include "core/text.hpp"
#include "exec/mpi/plan_cache.hpp"

namespace circoll::mpi {
namespace {

constexpr Count default_cache_bytes = Count{64} << 20;

std::size_t cache_limit() {
  const auto text = environment("CIRCOLL_CACHE_BYTES");
  return static_cast<std::size_t>(text ? parse_bytes(*text).value_or(default_cache_bytes) : default_cache_bytes);
}

/// Part of the executor's global state (globals.hpp).
struct Plans {
  std::mutex mutex;
  PlanCache cache{cache_limit()};
  std::vector<std::weak_ptr<const Relabelling>> labels;
};

/// Never destroyed: MPI may be gone before.
Plans& plans() {
  static auto* const instance = new Plans;
  return *instance;
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

Placement shared_placement(Placement placement) {
  if (placement.labels == nullptr) return placement;
  const std::lock_guard lock(plans().mutex);
  auto& all = plans().labels;
  std::erase_if(all, [](const auto& known) { return known.expired(); });
  for (const auto& known : all) {
    if (auto labels = known.lock(); labels != nullptr && *labels == *placement.labels) {
      placement.labels = std::move(labels);
      return placement;
    }
  }
  all.push_back(placement.labels);
  return placement;
}

void forget_plans() noexcept {
  const std::lock_guard lock(plans().mutex);
  plans().cache.clear();
}

}  // namespace circoll::mpi
