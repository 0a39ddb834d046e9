// The inside of local::Comm: from a call to executions.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "circoll/local.hpp"
#include "exec/local/endpoint.hpp"
#include "exec/local/plan_cache.hpp"

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
  Impl(Hub& hub, Rank rank, const Options& options) : endpoint_(hub, rank), cache_(options.plan_cache_bytes) {}

  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }

  void begin(const Call& call, const Choice& choice);
  /// True if the call has ended.
  bool poll();
  void wait() { endpoint_.wait(); }

 private:
  /// The buffers of the call as the schedule sees them.
  struct Buffers {
    std::byte* send = nullptr;
    std::byte* recv = nullptr;
  };

  void check_arguments(const Call& call) const;
  [[nodiscard]] Signature signature_of(const Call& call, const Choice& choice) const;
  [[nodiscard]] Buffers place_buffers(const Call& call);
  /// The plan of a signature; `told` is the prologue that came before, if one did.
  std::shared_ptr<BoundCall> bound(const Signature& signature, const BoundCall* told);
  [[nodiscard]] Selection select(const Signature& signature) const;
  [[nodiscard]] Schedule build(const Signature& signature, const Selection& selection) const;
  [[nodiscard]] Layout layout_of(const Signature& signature, const Schedule& schedule, const BoundCall* told) const;
  void start_data_after_prologue();
  void start(std::shared_ptr<BoundCall> bound, const Memory& memory);
  [[nodiscard]] std::size_t own() const { return static_cast<std::size_t>(endpoint_.rank()); }

  Endpoint endpoint_;
  PlanCache cache_;
  AlignedBytes scratch_;
  AlignedBytes staging_;

  // The call that is under way.
  Call call_;
  Signature signature_;
  Buffers buffers_;
  std::shared_ptr<BoundCall> running_;
  bool in_prologue_ = false;
  std::vector<Count> prologue_send_;
  std::vector<Count> prologue_recv_;
  std::vector<Count> counts_;  // what the prologue told
};

}  // namespace circoll::local
