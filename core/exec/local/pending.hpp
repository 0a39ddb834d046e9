// Nonblocking and persistent calls in one process: they are executed one after another, as they were begun.
#pragma once

#include <exception>
#include <span>
#include <vector>

#include "circoll/local.hpp"
#include "prepare/choices.hpp"

namespace circoll::local {

class PendingCalls;

/// A call behind a Request, with copies of its arrays.
class PendingCall final : public Request::Work {
 public:
  enum class Kind { nonblocking, persistent };

  /// Throws Error(invalid_argument) and what reading a choice throws. The communicator must outlive it.
  PendingCall(Comm::Impl& comm, const Call& call, const Choice& choice, Kind kind);
  /// Waits for its end; fails the world instead if an exception is what destroys it.
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

}  // namespace circoll::local
