// One rank of the executor in one process: its mailbox, and the execution that it is in the middle of.
//
// Messages go by rendezvous with one copy (exec/rendezvous). The memory of all ranks is at hand, so that a receiver
// finds the sender's data by its endpoint. An Execution runs a plan, and a Reduction combines elements.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "circoll/buffers.hpp"
#include "circoll/ops.hpp"
#include "circoll/plan.hpp"
#include "exec/rendezvous/post.hpp"
#include "plan/addresses.hpp"
#include "plan/engine.hpp"

namespace circoll::local {

class Endpoint;

/// State that the ranks of a world share.
struct Hub {
  std::vector<Endpoint*> endpoints{};
  std::vector<rendezvous::Mailbox*> mailboxes{};
  /// Set when a rank failed: nobody may count on the others any more.
  std::atomic<bool> failed{false};
  /// Ranks with events to look at, if ranks take turns in one thread.
  bool single_threaded = false;
  std::deque<Endpoint*> runnable{};

  /// Marks the world as failed and wakes everybody.
  void fail();
};

/// Base addresses of a plan's areas. The send area is never written.
struct AreaAddresses {
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  std::byte* scratch = nullptr;

  [[nodiscard]] std::byte* at(const Piece& piece) const {
    std::byte* const base = piece.area == Area::send ? send : piece.area == Area::recv ? recv : scratch;
    return base + piece.offset_bytes;
  }
};

/// The steps that an execution may begin, those that it has begun, and those that have ended. One entry for each.
struct Watch {
  std::vector<bool> allowed;
  std::vector<bool> begun;
  std::vector<bool> ended;
};

/// The progress of a plan's execution and the state of its receives: it runs again and again without allocating. The
/// plan must outlive it.
class LocalExecution {
 public:
  explicit LocalExecution(const Plan& plan) : plan_(&plan), engine_(plan), receives_(plan) {}
  LocalExecution(const LocalExecution&) = delete;
  LocalExecution& operator=(const LocalExecution&) = delete;

  [[nodiscard]] const Plan& plan() const { return *plan_; }
  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] rendezvous::Receives& receives() { return receives_; }
  /// Watches the steps of executions; nullptr: not. The watch must outlive them.
  void watch(Watch* watch) { watch_ = watch; }
  [[nodiscard]] bool may_begin(StepIndex step) const { return watch_ == nullptr || watch_->allowed[step]; }
  void note_begun(StepIndex step) {
    if (watch_ != nullptr) watch_->begun[step] = true;
  }
  void note_ended(StepIndex step) {
    if (watch_ != nullptr) watch_->ended[step] = true;
  }
  [[nodiscard]] std::size_t memory_bytes() const {
    return sizeof(LocalExecution) + receives_.memory_bytes() +
           plan_->steps.size() * (sizeof(std::uint32_t) + sizeof(StepIndex));
  }

 private:
  const Plan* plan_;
  Engine engine_;
  rendezvous::Receives receives_;
  Watch* watch_ = nullptr;
};

/// dst = left op right, with three addresses for operators that know only two.
class Reduction {
 public:
  /// Prepares for one call. Exactly one of kernel and user is set, or neither for collectives without operator.
  void use(ReduceKernel kernel, const UserOperator* user, Count element_bytes);
  /// dst may be equal to left or right.
  void apply(std::byte* dst, const std::byte* left, const std::byte* right, Count elements);

 private:
  ReduceKernel kernel_ = nullptr;
  const UserOperator* user_ = nullptr;
  std::size_t element_bytes_ = 1;
  std::vector<std::byte> chunk_;  // where right is kept while dst = left is being overwritten
};

class Endpoint {
 public:
  /// Adds itself to the hub: endpoints are made in the order of ranks, and before any of them is used.
  Endpoint(Hub& hub, Rank rank);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] Rank size() const { return static_cast<Rank>(hub_->endpoints.size()); }
  [[nodiscard]] Reduction& reduction() { return reduction_; }

  /// Throws Error(transport) if the world failed.
  void check_world() const;
  /// Begins an execution. All ranks begin the same ones in the same order.
  void start(LocalExecution& execution, const AreaAddresses& memory);
  /// Handles the letters that have come in; true if the execution has ended. Throws Error(transport) if the
  /// world failed.
  bool poll();
  /// Sleeps until there is a letter, or the world has failed.
  void wait();
  /// To be called when an exception leaves a collective. The world fails, and no rank reads this one's memory any more
  /// once it returns.
  void abandon() noexcept;
  void wake() { mailbox_->wake(); }
  /// Single-threaded mode: whether it stands in Hub::runnable.
  bool queued = false;

  /// Begins a step for the engine; true if it has ended already.
  bool begin(StepIndex step);

  // For the post: messages that have ended.
  void sent(StepIndex step) {
    current_->note_ended(step);
    current_->engine().completed(*this, step);
  }
  void arrived(StepIndex step);

 private:
  void receive(StepIndex step);
  void combine(const PlanStep& step);
  /// `message`: pieces of the sender, in its memory.
  void combine_message(const PlanStep& step, Cursor message, const AreaAddresses& memory);
  /// Single-threaded mode: another rank has got a letter.
  void make_runnable(Rank rank);

  Hub* hub_;
  Rank rank_;
  alignas(rendezvous::Mailbox::alignment) std::array<std::byte, sizeof(rendezvous::Mailbox)> mailbox_memory_{};
  rendezvous::Mailbox* mailbox_;
  std::vector<rendezvous::Letter> letters_;
  rendezvous::Post post_;

  LocalExecution* current_ = nullptr;
  AreaAddresses memory_;
  Reduction reduction_;
  std::atomic<int> readers_{0};  // ranks that are copying from this one's memory
};

}  // namespace circoll::local
