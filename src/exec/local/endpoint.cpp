#include "exec/local/endpoint.hpp"

#include <cstring>
#include <string>
#include <thread>

namespace circoll::local {
namespace {

/// How often a rank that must wait lets others run before it sleeps. With more ranks than cores the awaited
/// rank is often just about to run: a sleep and a wake-up cost five times a message. More would be spinning.
constexpr int yields_before_sleep = 4;

/// Copies a message piece by piece; both sides have the same number of elements.
void copy_message(std::span<const Piece> to, const Memory& to_memory, std::span<const Piece> from,
                  const Memory& from_memory, Count extent_bytes) {
  Count to_taken = 0;
  Count from_taken = 0;
  while (!to.empty() && !from.empty()) {
    const Count elements = std::min(to.front().elements - to_taken, from.front().elements - from_taken);
    std::memcpy(to_memory.at(to.front()) + to_taken * extent_bytes,
                from_memory.at(from.front()) + from_taken * extent_bytes,
                static_cast<std::size_t>(elements * extent_bytes));
    to_taken += elements;
    from_taken += elements;
    if (to_taken == to.front().elements) {
      to = to.subspan(1);
      to_taken = 0;
    }
    if (from_taken == from.front().elements) {
      from = from.subspan(1);
      from_taken = 0;
    }
  }
}

}  // namespace

void Hub::fail() {
  failed.store(true);
  for (Endpoint* endpoint : endpoints) endpoint->wake();
}

void Endpoint::wake() {
  const std::lock_guard lock(mutex_);
  arrived_.notify_all();
}

void Endpoint::check_world() const {
  if (hub_->failed.load(std::memory_order_relaxed)) {
    throw Error(ErrorCode::transport, "another rank failed in or outside this collective");
  }
}

void Endpoint::reserve(std::size_t events) {
  // Peers may be one collective ahead, so events of two executions can meet.
  const std::size_t enough = 2 * events + 16;
  if (batch_.capacity() >= enough) return;
  batch_.reserve(enough);
  early_.reserve(enough);
  const std::lock_guard lock(mutex_);
  inbox_.reserve(enough);
}

void Endpoint::start(Execution& execution, const Memory& memory) {
  check_world();
  reserve(execution.events());
  current_ = &execution;
  memory_ = memory;
  ++number_;
  execution.reset();
  std::erase_if(early_, [this](const Event& event) {
    if (event.number != number_) return false;
    match(event);  // before any receive is started, so it only takes note
    return true;
  });
  execution.engine().start(*this);
}

bool Endpoint::poll() {
  check_world();
  {
    const std::lock_guard lock(mutex_);
    std::swap(inbox_, batch_);
  }
  for (const Event& event : batch_) {
    if (event.kind == Event::Kind::completion) {
      current_->engine().completed(*this, event.step);
    } else if (event.number > number_) {
      early_.push_back(event);
    } else {
      match(event);
    }
  }
  batch_.clear();
  return current_->engine().done();
}

void Endpoint::wait() {
  std::unique_lock lock(mutex_);
  for (int i = 0; i < yields_before_sleep && inbox_.empty(); ++i) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  sleeping_ = true;
  arrived_.wait(lock, [this] { return !inbox_.empty() || hub_->failed.load(); });
  sleeping_ = false;
}

void Endpoint::abandon() noexcept {
  hub_->fail();
  // Receivers count themselves before they look at `failed`: whoever begins to copy after this sees it.
  for (int readers = readers_.load(); readers != 0; readers = readers_.load()) readers_.wait(readers);
}

void Endpoint::deliver(const Event& event) {
  {
    const std::lock_guard lock(mutex_);
    inbox_.push_back(event);
    if (sleeping_) arrived_.notify_one();
  }
  if (hub_->single_threaded && !queued) {
    queued = true;
    hub_->runnable.push_back(this);
  }
}

void Endpoint::match(const Event& event) {
  check(event.number == number_, "a message of a collective that this rank has left");
  const PlanStep& sent = event.sender->current_->plan().steps[event.step];
  Execution::Receive* const receive = current_->find(event.sender->rank_, sent.tag);
  if (receive == nullptr || current_->plan().steps[receive->step].elements != sent.elements) {
    throw Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(event.sender->rank_) + " sent " + std::to_string(sent.elements) +
                    " elements that rank " + std::to_string(rank_) +
                    " does not expect: the ranks called a collective with arguments that do not match");
  }
  receive->sender = event.sender;
  receive->sender_step = event.step;
  if (!receive->posted) return;
  this->receive(*receive);
  current_->engine().completed(*this, receive->step);
}

void Endpoint::receive(Execution::Receive& receive) {
  Endpoint& sender = *receive.sender;
  sender.readers_.fetch_add(1);
  const bool failed = hub_->failed.load();
  if (!failed) {
    const Plan& from = sender.current_->plan();
    const Plan& to = current_->plan();
    copy_message(to.pieces_of(to.steps[receive.step]), memory_, from.pieces_of(from.steps[receive.sender_step]),
                 sender.memory_, to.extent_bytes);
  }
  if (sender.readers_.fetch_sub(1) == 1 && hub_->failed.load()) sender.readers_.notify_all();
  if (failed) check_world();
  sender.deliver(Event{Event::Kind::completion, receive.sender_step, &sender, number_});
}

void Endpoint::local(StepIndex step) {
  const Plan& plan = current_->plan();
  const PlanStep& s = plan.steps[step];
  for (const Run& run : plan.runs_of(s)) {
    std::byte* const dst = memory_.at(run.dst);
    const std::byte* const left = memory_.at(run.left);
    if (s.kind == StepKind::reduce) {
      reduction_.apply(dst, left, memory_.at(run.right), run.dst.elements);
    } else if (dst != left) {
      std::memcpy(dst, left, static_cast<std::size_t>(run.dst.elements * plan.extent_bytes));
    }
  }
}

bool Endpoint::post(StepIndex step) {
  const PlanStep& s = current_->plan().steps[step];
  if (s.kind == StepKind::send) {
    hub_->endpoints[static_cast<std::size_t>(s.peer)]->deliver(Event{Event::Kind::arrival, step, this, number_});
    return false;
  }
  Execution::Receive& receive = current_->receive_of(step);
  if (receive.sender == nullptr) {
    receive.posted = true;
    return false;
  }
  this->receive(receive);
  return true;
}

}  // namespace circoll::local
