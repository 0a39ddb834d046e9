// The handle of a nonblocking or persistent call, as MPI_Request is.
#pragma once

#include <memory>
#include <utility>

#include "circoll/error.hpp"

namespace circoll {

/// A nonblocking call until it has ended, or a persistent call that is started again and again. Buffers must live and
/// stay untouched while it is active. A UserOperator or MPI_Op must live. Other arguments are copied, callables too.
/// It is used by one thread at a time, the one that uses its communicator, which must outlive it.
///
/// Calls advance in wait() and test(), and a blocking call on their communicator ends them first. Nothing else advances
/// them. All ranks begin the calls of a communicator in the same order, blocking ones among them.
///
/// Destroying an active request waits for it, as assigning another to it does, and its error is lost. In process,
/// where an exception is what destroys it, the world fails instead, so that no rank waits for one that has left.
class [[nodiscard]] Request {
 public:
  /// The call behind a request. Communicators derive from it; its destructor ends what is active.
  class Work {
   public:
    Work() = default;
    virtual ~Work() = default;
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    /// Begins a persistent call that is not active.
    virtual void start() = 0;
    /// Goes on with an active call as far as possible without waiting; true if it has ended. Throws its error.
    [[nodiscard]] virtual bool test() = 0;
    /// Goes on until it has ended. Throws its error.
    virtual void wait() = 0;
    [[nodiscard]] virtual bool active() const = 0;      ///< as Request::active
    [[nodiscard]] virtual bool persistent() const = 0;  ///< as Request::persistent

   private:
    friend class Request;
    std::shared_ptr<const void> kept_{};  // goes after the call of the derived class
  };

  /// The null request: not active, and done.
  Request() = default;
  explicit Request(std::unique_ptr<Work> work) : work_(std::move(work)) {}
  Request(Request&&) noexcept = default;             ///< leaves the null request behind
  Request& operator=(Request&&) noexcept = default;  ///< an active call of the request before is ended first
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request() = default;

  /// Waits until the call has ended; at once if it is not active. Throws what the blocking call would throw; the
  /// request is not active then.
  void wait() {
    if (active()) work_->wait();
  }
  /// True if the call has ended, or is not active. Never waits. Throws as wait().
  [[nodiscard]] bool test() { return !active() || work_->test(); }
  /// Begins a persistent call, with what its buffers hold now. Throws Error(invalid_argument) if the request is active,
  /// or not persistent.
  void start() {
    require(work_ != nullptr && work_->persistent(), "only a persistent request can be started");
    require(!work_->active(), "the request is active: it is started again when it has ended");
    work_->start();
  }
  /// True if the call has begun, and has not been seen to end.
  [[nodiscard]] bool active() const { return work_ != nullptr && work_->active(); }
  [[nodiscard]] bool persistent() const { return work_ != nullptr && work_->persistent(); }
  /// Keeps an object that the call refers to until the call is destroyed.
  void keep(std::shared_ptr<const void> object) {
    if (work_ != nullptr) work_->kept_ = std::move(object);
  }

 private:
  std::unique_ptr<Work> work_;
};

}  // namespace circoll
