// The policies, one function each, and what they share.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "circoll/select.hpp"
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

/// The decision of the model for the last facts. One call asks several times: for its plan, and to learn. Thread-safe.
class LastDecision {
 public:
  [[nodiscard]] std::optional<Decision> find(const CallFacts& facts) {
    const std::lock_guard lock(mutex_);
    return decision_ && facts == facts_ ? decision_ : std::nullopt;
  }
  void keep(const CallFacts& facts, const Decision& decision) {
    std::optional<Decision> copy(decision);
    const std::lock_guard lock(mutex_);
    facts_ = facts;
    decision_ = std::move(copy);
  }

 private:
  std::mutex mutex_;
  CallFacts facts_;
  std::optional<Decision> decision_;
};

/// The model's results that a policy remembers. They could all be found again.
struct ModelMemory {
  TrafficCache traffic;
  LastDecision last;
};

/// Common to all policies: name, machine, and the rules that none may break.
class PolicyBase : public Policy {
 public:
  PolicyBase(std::string name, PolicyOptions options) : name_(std::move(name)), options_(std::move(options)) {}
  [[nodiscard]] const Machine& machine() const override { return options_.machine; }

 protected:
  [[nodiscard]] const PolicyOptions& options() const { return options_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] ModelMemory& memory() const { return memory_; }
  /// why_not under the options of this policy.
  [[nodiscard]] std::string refusal(const Selection& selection, const CallFacts& facts) const {
    return why_not(selection, facts, options_.allow_rank_divergence);
  }
  /// The decision for a wished algorithm if it may serve the call. Otherwise it is added to `ruled_out` and nothing
  /// is returned.
  [[nodiscard]] std::optional<Decision> take(const CallFacts& facts, const Selection& wished, const std::string& reason,
                                             std::vector<RuledOut>& ruled_out) const;
  /// The model's decision, as a substitute: `reason` comes first in its reason, and `ruled_out` in its list.
  [[nodiscard]] Decision fall_back(const CallFacts& facts, const std::string& reason,
                                   std::vector<RuledOut> ruled_out) const;
  [[nodiscard]] Decision native(std::string reason, std::vector<RuledOut> ruled_out = {}) const;

 private:
  std::string name_;
  PolicyOptions options_;
  mutable ModelMemory memory_;
};

/// Least predicted time; see model_policy.cpp. `memory` is always of the same policy and options.
[[nodiscard]] Decision decide_by_model(const std::string& policy, const CallFacts& facts, const PolicyOptions& options,
                                       ModelMemory& memory);

[[nodiscard]] std::unique_ptr<const Policy> make_model(std::string name, const PolicyOptions& options);
[[nodiscard]] std::unique_ptr<const Policy> make_classic(const PolicyOptions& options);
[[nodiscard]] std::unique_ptr<const Policy> make_openmpi_fixed(const PolicyOptions& options);
[[nodiscard]] std::unique_ptr<const Policy> make_native(const PolicyOptions& options);

/// The name in Open MPI's decision tree for allreduce (its names are Circoll's), p ranks and a vector of `bytes`.
[[nodiscard]] std::string_view openmpi_tree(Rank p, Count bytes);

}  // namespace circoll::select
