// A cache of bound plans: the least recently used go first when they exceed a number of bytes.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "exec/mpi/bound_plan.hpp"

namespace circoll::mpi {

class PlanCache {
 public:
  explicit PlanCache(std::size_t limit_bytes) { account_.limit_bytes = limit_bytes; }
  ~PlanCache() { clear(); }
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  /// The plan of a signature; make(hash) -> std::shared_ptr<BoundPlan> if there is none. A hit allocates nothing; the
  /// plan that served the last call is found by one comparison. Who holds the pointer may use the plan although it is
  /// evicted meanwhile.
  template <typename Make>
  const std::shared_ptr<BoundPlan>& find(const Signature& signature, Make&& make) {
    if (!plans_.empty() && plans_.front()->matches(signature)) return plans_.front();
    const std::uint64_t hash = signature.hash();
    const auto [begin, end] = index_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      if (!(*it->second)->matches(signature)) continue;
      plans_.splice(plans_.begin(), plans_, it->second);
      return plans_.front();
    }
    plans_.push_front(make(hash));
    try {
      index_.emplace(hash, plans_.begin());
    } catch (...) {
      plans_.pop_front();
      throw;
    }
    plans_.front()->enter_cache(account_);
    while (account_.exceeded() && plans_.size() > 1) evict();
    return plans_.front();
  }

  void clear() {
    index_.clear();
    for (const std::shared_ptr<BoundPlan>& plan : plans_) plan->leave_cache();
    plans_.clear();
  }
  [[nodiscard]] std::size_t size() const { return plans_.size(); }

 private:
  void evict() {
    BoundPlan& last = *plans_.back();
    const auto [begin, end] = index_.equal_range(last.hash());
    for (auto it = begin; it != end; ++it) {
      if (it->second->get() == &last) {
        index_.erase(it);
        break;
      }
    }
    last.leave_cache();
    plans_.pop_back();
  }

  CacheAccount account_;
  std::list<std::shared_ptr<BoundPlan>> plans_;  // most recently used first
  std::unordered_multimap<std::uint64_t, std::list<std::shared_ptr<BoundPlan>>::iterator> index_;
};

}  // namespace circoll::mpi
