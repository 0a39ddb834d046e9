// A cache of prepared calls: the least recently used go first when they exceed a number of bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "prepare/signature.hpp"

namespace circoll::prepare {

/// Bytes of the calls of one cache.
struct CacheAccount {
  std::size_t limit_bytes = 0;
  std::atomic<std::size_t> bytes{0};

  [[nodiscard]] bool exceeded() const { return bytes > limit_bytes; }
};

/// Prepared calls by signature, bounded in bytes (or one call, if that is larger). `Prepared` is an executor's class
/// derived from PreparedCall, with enter_cache(CacheAccount&) and leave_cache(), which charge what it takes. Used by
/// one thread at a time.
template <typename Prepared>
class PlanCache {
 public:
  explicit PlanCache(std::size_t limit_bytes) { account_.limit_bytes = limit_bytes; }
  ~PlanCache() { clear(); }
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  /// The prepared call of a signature; make(hash) -> std::shared_ptr<Prepared> if there is none. A hit allocates
  /// nothing; the one that served the last call is found by one comparison. An owner of the pointer may use it although
  /// it is evicted meanwhile.
  template <typename Make>
  const std::shared_ptr<Prepared>& find(const Signature& signature, Make&& make) {
    if (!calls_.empty() && calls_.front()->matches(signature)) return calls_.front();
    const std::uint64_t hash = signature.hash();
    const auto [begin, end] = index_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      if (!(*it->second)->matches(signature)) continue;
      calls_.splice(calls_.begin(), calls_, it->second);
      return calls_.front();
    }
    calls_.push_front(make(hash));
    try {
      index_.emplace(hash, calls_.begin());
    } catch (...) {
      calls_.pop_front();
      throw;
    }
    calls_.front()->enter_cache(account_);
    while (account_.exceeded() && calls_.size() > 1) evict();
    return calls_.front();
  }

  void clear() {
    index_.clear();
    for (const std::shared_ptr<Prepared>& call : calls_) call->leave_cache();
    calls_.clear();
  }
  [[nodiscard]] std::size_t size() const { return calls_.size(); }

 private:
  void evict() {
    Prepared& last = *calls_.back();
    const auto [begin, end] = index_.equal_range(last.hash());
    for (auto it = begin; it != end; ++it) {
      if (it->second->get() == &last) {
        index_.erase(it);
        break;
      }
    }
    last.leave_cache();
    calls_.pop_back();
  }

  CacheAccount account_;
  std::list<std::shared_ptr<Prepared>> calls_;  // most recently used first
  std::unordered_multimap<std::uint64_t, typename std::list<std::shared_ptr<Prepared>>::iterator> index_;
};

}  // namespace circoll::prepare
