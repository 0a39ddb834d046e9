// Everything between a call's signature and its execution: decision, schedule, layout and plan, the same
// in all executors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/plan.hpp"
#include "circoll/select.hpp"
#include "plan/count_prologue.hpp"
#include "prepare/signature.hpp"
#include "schedule/relabelling.hpp"

namespace circoll::prepare {

/// The number of tags that an executor can tell messages of one pair of ranks apart by.
inline constexpr int any_tags = 1 << 30;

/// The facts of a call by which policies decide. The placement must be that of the signature's head.
[[nodiscard]] CallFacts facts_of(const Signature& signature, const Placement& placement);

/// The preparation of one signature. It knows nothing of a communicator but the signature, so that communicators may
/// share it. Executors derive from it, and add the data that they need to run a plan.
///
/// A call that Circoll does not serve gives an object without a plan and with a reason. The decision depends on values
/// only that are equal on all ranks.
class PreparedCall {
 public:
  /// Prepares. The placement must be that of the signature's head. An algorithm that needs more than `most_tags` tags
  /// does not serve the call. Throws Error, but for calls that nothing serves.
  PreparedCall(const Signature& signature, std::uint64_t hash, const Placement& placement, int most_tags = any_tags);

  [[nodiscard]] bool matches(const Signature& signature) const { return signature_.equals(signature); }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

  /// True if there is a plan. There is none if the call is native, nor for the prologue of a direct algorithm.
  [[nodiscard]] bool has_plan() const { return has_plan_; }
  [[nodiscard]] const Plan& plan() const { return prologue_ ? prologue_->plan() : plan_; }
  /// The prologue, or nullptr if this is none or one that the algorithm does not need: it is direct.
  [[nodiscard]] const CountPrologue* prologue() const { return prologue_.get(); }
  [[nodiscard]] const Selection& selection() const { return selection_; }
  /// Tags that an execution wants, so that no two messages of a pair of ranks have the same. They are equal on
  /// all ranks.
  [[nodiscard]] int tags() const { return tags_; }
  /// True if the caller has named the algorithm, which is executed as it is written.
  [[nodiscard]] bool named() const { return named_; }
  /// Why the policy chose selection(); empty if the call is native.
  [[nodiscard]] const std::string& why() const { return why_; }
  /// Why the call is native; empty if it is served.
  [[nodiscard]] const std::string& native_reason() const { return native_reason_; }

  /// The schedules of all ranks, of which the one of this rank is the plan's. Built anew. For a plan only.
  [[nodiscard]] std::vector<Schedule> schedules() const;
  /// Binds another schedule to the memory of the plan: its buffers are the same, and scratch buffers behind them. For a
  /// plan that is no prologue, and where all blocks are known.
  [[nodiscard]] Plan bind_instead(const Schedule& schedule) const;
  /// True if every rank knows the sizes of all blocks.
  [[nodiscard]] bool knows_all_blocks() const;

 protected:
  /// Bytes of everything.
  [[nodiscard]] std::size_t prepared_bytes() const;

 private:
  void select(const Signature& signature, int most_tags);
  [[nodiscard]] Schedule make_schedule(const SignatureHead& head, Rank rank) const;
  /// Finds the labels of the schedules, unless the caller has named the algorithm.
  void find_labels(const SignatureHead& head);
  void bind_to(const Signature& signature, const Schedule& schedule);
  /// `blocks` as Signature::blocks.
  [[nodiscard]] Plan bind_with(const Schedule& schedule, std::span<const Block> blocks) const;
  [[nodiscard]] Layout layout_of(const Schedule& schedule, std::span<const Block> blocks) const;

  StoredSignature signature_;
  std::uint64_t hash_ = 0;
  Placement placement_;
  Selection selection_{};
  /// Of nodes that change places, or of ranks that are numbered node by node.
  std::shared_ptr<const Relabelling> labels_{};
  int tags_ = 1;
  bool named_ = false;  ///< the algorithm
  std::string why_;
  std::string native_reason_;
  bool has_plan_ = false;
  Plan plan_{};
  std::unique_ptr<CountPrologue> prologue_;
};

}  // namespace circoll::prepare
