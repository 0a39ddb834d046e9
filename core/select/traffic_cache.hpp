// Traffic of algorithms inside and between nodes, counted once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "model/traffic.hpp"

namespace circoll::select {

/// traffic_of, remembered: it is the same for every size. Bounded; thread-safe.
class TrafficCache {
 public:
  [[nodiscard]] std::shared_ptr<const Traffic> find(const Selection& selection, Rank p, Rank cores) {
    Key key{selection.id(), selection.params, p, cores};
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = all_.find(key); known != all_.end()) return known->second;
    }
    auto counted = std::make_shared<const Traffic>(traffic_of(selection, p, cores));
    const std::lock_guard lock(mutex_);
    if (all_.size() >= most) all_.clear();
    return all_.insert_or_assign(std::move(key), std::move(counted)).first->second;
  }

 private:
  static constexpr std::size_t most = 512;
  using Key = std::tuple<std::string, Params, Rank, Rank>;

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Traffic>> all_;
};

}  // namespace circoll::select
