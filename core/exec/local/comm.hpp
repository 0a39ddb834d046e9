// The inside of local::Comm: from a call to executions.
//
// Nonblocking and persistent calls are executed one after another, as they were begun (pending.cpp).
#pragma once

#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "circoll/local.hpp"
#include "exec/local/endpoint.hpp"
#include "prepare/choices.hpp"
#include "prepare/plan_cache.hpp"
#include "prepare/prepared_call.hpp"

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

/// One rank's preparation of one signature. It is executed once at a time.
class BoundCall : public prepare::PreparedCall {
 public:
  /// Throws as PreparedCall, and Error(unsupported) if nothing serves the call: there is no native collective here.
  BoundCall(const prepare::Signature& signature, std::uint64_t hash, const Placement& placement)
      : PreparedCall(signature, hash, placement) {
    if (!native_reason().empty()) throw Error(ErrorCode::unsupported, native_reason());
    if (has_plan()) execution_ = std::make_unique<LocalExecution>(plan());
    bytes_ = sizeof(BoundCall) + prepared_bytes() + (execution_ != nullptr ? execution_->memory_bytes() : 0);
  }

  void enter_cache(prepare::CacheAccount& account) {
    account_ = &account;
    account.bytes += bytes_;
  }
  void leave_cache() {
    if (account_ != nullptr) account_->bytes -= bytes_;
    account_ = nullptr;
  }

  /// The execution, if has_plan().
  [[nodiscard]] LocalExecution& execution() { return *execution_; }

 private:
  std::unique_ptr<LocalExecution> execution_;
  std::size_t bytes_ = 0;
  prepare::CacheAccount* account_ = nullptr;
};

class PendingCalls;

/// A call behind a Request, with copies of its arrays.
class PendingCall final : public Request::Work {
 public:
  enum class Kind { nonblocking, persistent };

  /// Throws Error(invalid_argument) and what reading a choice throws. The communicator must outlive it.
  PendingCall(Comm::Impl& comm, const Call& call, const Choice& choice, Kind kind);
  /// Waits for the end of the request. If an exception destroys the request, fails the world instead.
  ~PendingCall() override;

  void start() override;
  [[nodiscard]] bool test() override;
  void wait() override;
  [[nodiscard]] bool active() const override { return state_ != State::inactive; }
  [[nodiscard]] bool persistent() const override { return kind_ == Kind::persistent; }

 private:
  friend class PendingCalls;
  /// Ended calls have an end that nobody has seen yet.
  enum class State { inactive, begun, ended };

  void keep(std::span<const Count> Call::*array);
  /// The program sees the end of the call. Throws its error.
  void end_seen();

  Comm::Impl& comm_;
  Call call_;
  std::vector<Count> numbers_;  // copies of the arrays, one after another
  const prepare::InternedChoice& choice_;
  Kind kind_;
  State state_ = State::inactive;
  std::exception_ptr failure_{};
  int exceptions_ = 0;  // in flight when it began
};

/// The calls of one rank that have begun, in this order. The first one is under way.
class PendingCalls {
 public:
  explicit PendingCalls(Comm::Impl& comm) : comm_(comm) {}

  [[nodiscard]] bool empty() const { return calls_.empty(); }
  void add(PendingCall& call);
  /// Goes on as far as possible without waiting.
  void advance();
  /// Waits until there are none.
  void finish();
  /// Waits until a call has ended.
  void finish(const PendingCall& call);
  /// Fails the world, and with it all calls.
  void abandon() noexcept;

 private:
  void end_first(std::exception_ptr failure);
  void begin_first();

  Comm::Impl& comm_;
  std::vector<PendingCall*> calls_;
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
  /// The sizes and places of the blocks of a gatherv or scatterv in the caller's buffers.
  void place_blocks();
  /// The places of those of an alltoallv.
  void place_exchange();
  void start_data(std::shared_ptr<BoundCall> bound);
  void start_data_after_prologue();
  void start(std::shared_ptr<BoundCall> bound, const AreaAddresses& memory);
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
