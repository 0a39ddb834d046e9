// One rank's end of the message passing: its inbox, and the execution that it is in the middle of.
//
// Rendezvous with one copy: a send puts an event into the receiver's inbox that names the sender and its
// step. When the receive has been started as well, the receiver copies straight from the sender's memory,
// which rests until then, and answers with an event that completes the send. Executions are numbered: an
// event of a later one waits for it.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "exec/local/execution.hpp"
#include "exec/local/reduction.hpp"

namespace circoll::local {

class Endpoint;

/// What the ranks of a world share.
struct Hub {
  std::vector<Endpoint*> endpoints{};
  /// Set when a rank failed: nobody may count on the others any more.
  std::atomic<bool> failed{false};
  /// If ranks take turns in one thread: those with events to look at.
  bool single_threaded = false;
  std::deque<Endpoint*> runnable{};

  /// Marks the world as failed and wakes everybody.
  void fail();
};

/// Base addresses of a plan's areas. The send area is never written.
struct Memory {
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  std::byte* scratch = nullptr;

  [[nodiscard]] std::byte* at(const Piece& piece) const {
    std::byte* const base = piece.area == Area::send ? send : piece.area == Area::recv ? recv : scratch;
    return base + piece.offset_bytes;
  }
};

class Endpoint {
 public:
  Endpoint(Hub& hub, Rank rank) : hub_(&hub), rank_(rank) {}
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] Rank size() const { return static_cast<Rank>(hub_->endpoints.size()); }
  [[nodiscard]] Hub& hub() { return *hub_; }
  [[nodiscard]] Reduction& reduction() { return reduction_; }

  /// Throws Error(transport) if the world failed.
  void check_world() const;
  /// Begins an execution. All ranks begin the same ones in the same order.
  void start(Execution& execution, const Memory& memory);
  /// Handles the events that have come in; true if the execution has ended. Throws Error(transport) if the
  /// world failed.
  bool poll();
  /// Sleeps until there is an event. Throws Error(transport) if the world failed.
  void wait();
  /// To be called when an exception leaves a collective: the world fails, and no rank reads this one's memory
  /// any more once it returns.
  void abandon() noexcept;
  void wake();
  /// Single-threaded mode: whether it stands in Hub::runnable.
  bool queued = false;

  // The engine's transport.
  void local(StepIndex step);
  bool post(StepIndex step);

 private:
  struct Event {
    enum class Kind : std::uint8_t { arrival, completion } kind = Kind::arrival;
    StepIndex step = 0;  ///< arrival: the sender's step; completion: one's own
    Endpoint* sender = nullptr;
    std::uint64_t number = 0;  ///< of the execution
  };

  void deliver(const Event& event);
  void reserve(std::size_t events);
  /// An arrival of the current execution: completes its receive if that has been started, else takes note.
  void match(const Event& event);
  void receive(Execution::Receive& receive);

  Hub* hub_;
  Rank rank_;

  std::mutex mutex_;  // guards inbox_ and sleeping_
  std::condition_variable arrived_;
  std::vector<Event> inbox_;
  bool sleeping_ = false;

  std::vector<Event> batch_;  // events being handled
  std::vector<Event> early_;  // of later executions
  Execution* current_ = nullptr;
  Memory memory_;
  std::uint64_t number_ = 0;
  Reduction reduction_;
  std::atomic<int> readers_{0};  // ranks that are copying from this one's memory
};

}  // namespace circoll::local
