// The inside of local::Comm: from a call to executions.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "circoll/local.hpp"
#include "exec/local/bound_call.hpp"
#include "exec/local/endpoint.hpp"
#include "exec/local/pending.hpp"
#include "prepare/choices.hpp"

namespace circoll::local {

/// Memory on a cache-line boundary that grows and never shrinks; growing loses the contents.
class AlignedBytes {
 public:
  std::byte* reserve(std::size_t bytes);

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, alignment); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
  std::size_t size_ = 0;
};

/// A call is begun, polled until it has ended, and may be waited for in between. Exceptions leave the world
/// failed once a message has been sent.
class Comm::Impl {
 public:
  /// `placement` is that of the world's ranks.
  Impl(Hub& hub, Rank rank, const Options& options, const Placement& placement)
      : endpoint_(hub, rank), placement_(placement), cache_(options.plan_cache_bytes) {}

  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }

  void begin(const Call& call, const prepare::InternedChoice& choice);
  void begin(const Call& call, const Choice& choice) { begin(call, intern(call.collective, choice)); }
  /// True if the call has ended.
  bool poll();
  void wait() { endpoint_.wait(); }

  /// The choice, which lives as long as this object.
  [[nodiscard]] const prepare::InternedChoice& intern(Collective collective, const Choice& choice) {
    return *choices_.intern(collective, choice, last_choices_);
  }
  /// Throws Error(invalid_argument) if this rank can see that the call is wrong.
  void check_arguments(const Call& call) const;
  [[nodiscard]] PendingCalls& pending() { return pending_; }

 private:
  /// The buffers of the call as the schedule sees them.
  struct Buffers {
    std::byte* send = nullptr;
    std::byte* recv = nullptr;
  };

  [[nodiscard]] prepare::Signature signature_of(const Call& call, const prepare::InternedChoice& choice) const;
  [[nodiscard]] Buffers place_buffers(const Call& call);
  [[nodiscard]] std::shared_ptr<BoundCall> bound(const prepare::Signature& signature);
  /// The places of the blocks of an alltoallv in the caller's buffers.
  void place_exchange();
  void start_data(std::shared_ptr<BoundCall> bound);
  void start_data_after_prologue();
  void start(std::shared_ptr<BoundCall> bound, const Memory& memory);
  [[nodiscard]] std::size_t own() const { return static_cast<std::size_t>(endpoint_.rank()); }

  Endpoint endpoint_;
  Placement placement_;
  prepare::Choices choices_;
  prepare::LastChoices last_choices_{};
  prepare::PlanCache<BoundCall> cache_;
  AlignedBytes scratch_;
  AlignedBytes staging_;
  PendingCalls pending_{*this};

  // The call that is under way.
  Call call_;
  prepare::Signature signature_;
  Buffers buffers_;
  std::shared_ptr<BoundCall> running_;
  bool in_prologue_ = false;
  std::vector<Count> prologue_send_;
  std::vector<Count> prologue_recv_;
  std::vector<Count> counts_;  // what the prologue told
};

}  // namespace circoll::local
