#include "exec/local/endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <thread>

namespace circoll::local {
namespace {

/// Turns that a waiting rank gives to others before it sleeps. With more ranks than cores the awaited rank is often
/// just about to run: a sleep and a wake-up cost five times a message. More would be spinning.
constexpr int yields_before_sleep = 4;

/// Copies a message piece by piece; both sides have the same number of elements.
void copy_message(Cursor to, const AreaAddresses& to_memory, Cursor from, const AreaAddresses& from_memory,
                  Count extent_bytes) {
  while (!to.at_end() && !from.at_end()) {
    const Count elements = std::min(to.available(), from.available());
    std::memcpy(to_memory.at(to.take(elements)), from_memory.at(from.take(elements)),
                static_cast<std::size_t>(elements * extent_bytes));
  }
}

/// The part of a vector that a user's operator gets at once: it stays in the first-level cache.
constexpr std::size_t chunk_bytes = std::size_t{32} << 10;

}  // namespace

void Hub::fail() {
  failed.store(true);
  for (Endpoint* endpoint : endpoints) endpoint->wake();
}

Endpoint::Endpoint(Hub& hub, Rank rank)
    : hub_(&hub),
      rank_(rank),
      mailbox_(rendezvous::Mailbox::create(mailbox_memory_.data())),
      post_(rank, hub.mailboxes) {
  hub.endpoints.push_back(this);
  hub.mailboxes.push_back(mailbox_);
}

void Endpoint::check_world() const {
  if (hub_->failed.load(std::memory_order_relaxed)) {
    throw Error(ErrorCode::transport, "another rank failed in or outside this collective");
  }
}

void Endpoint::start(LocalExecution& execution, const AreaAddresses& memory) {
  check_world();
  if (!post_.has_room_for(execution.receives())) {
    letters_.resize(execution.receives().sends());
    post_.use_letters(letters_);
  }
  current_ = &execution;
  memory_ = memory;
  post_.begin(execution.receives());
  execution.engine().start(*this);
}

bool Endpoint::poll() {
  check_world();
  post_.poll(*this);
  return current_->engine().done();
}

void Endpoint::wait() {
  for (int i = 0; i < yields_before_sleep && mailbox_->empty(); ++i) std::this_thread::yield();
  mailbox_->wait(hub_->failed);
}

void Endpoint::abandon() noexcept {
  hub_->fail();
  // Receivers count themselves before they look at `failed`. So a receiver that begins to copy after this sees it.
  for (int readers = readers_.load(); readers != 0; readers = readers_.load()) readers_.wait(readers);
}

void Endpoint::make_runnable(Rank rank) {
  if (!hub_->single_threaded) return;
  Endpoint* const endpoint = hub_->endpoints[static_cast<std::size_t>(rank)];
  if (endpoint->queued) return;
  endpoint->queued = true;
  hub_->runnable.push_back(endpoint);
}

void Endpoint::arrived(StepIndex step) {
  receive(step);
  current_->note_ended(step);
  current_->engine().completed(*this, step);
}

void Endpoint::receive(StepIndex step) {
  const Plan& to = current_->plan();
  Endpoint& sender = *hub_->endpoints[static_cast<std::size_t>(to.steps[step].peer)];
  sender.readers_.fetch_add(1);
  const bool failed = hub_->failed.load();
  if (!failed) {
    const Plan& from = sender.current_->plan();
    const PlanStep& s = to.steps[step];
    const Cursor message(from.pieces_of(from.steps[post_.letter_of(step).step]), to.extent_bytes);
    if (s.kind == StepKind::recv_reduce) {
      combine_message(s, message, sender.memory_);
    } else {
      copy_message(Cursor(to.pieces_of(s), to.extent_bytes), memory_, message, sender.memory_, to.extent_bytes);
    }
  }
  if (sender.readers_.fetch_sub(1) == 1 && hub_->failed.load()) sender.readers_.notify_all();
  if (failed) check_world();
  post_.answer(step);
  make_runnable(sender.rank_);
}

/// InOrderPath from the sender's memory.
void Endpoint::combine_message(const PlanStep& s, Cursor message, const AreaAddresses& memory) {
  const Plan& plan = current_->plan();
  for (const Run& run : plan.runs_of(s)) {
    const std::byte* own = memory_.at(s.arrives_left ? run.right : run.left);
    std::byte* dst = memory_.at(run.dst);
    for (Count rest = run.dst.elements; rest > 0 && !message.at_end();) {
      const Count elements = std::min(rest, message.available());
      const std::byte* const other = memory.at(message.take(elements));
      reduction_.apply(dst, s.arrives_left ? other : own, s.arrives_left ? own : other, elements);
      dst += elements * plan.extent_bytes;
      own += elements * plan.extent_bytes;
      rest -= elements;
    }
  }
}

void Endpoint::combine(const PlanStep& s) {
  const Plan& plan = current_->plan();
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

bool Endpoint::begin(StepIndex step) {
  if (!current_->may_begin(step)) return false;
  current_->note_begun(step);
  const PlanStep& s = current_->plan().steps[step];
  if (!is_message(s.kind)) {
    combine(s);
    current_->note_ended(step);
    return true;
  }
  if (s.kind == StepKind::send) {
    post_.send(step, s.peer, s.tag, s.elements);
    make_runnable(s.peer);
    return false;
  }
  if (!post_.receive(step)) return false;
  receive(step);
  current_->note_ended(step);
  return true;
}

void Reduction::use(ReduceKernel kernel, const UserOperator* user, Count element_bytes) {
  kernel_ = kernel;
  user_ = user;
  element_bytes_ = static_cast<std::size_t>(element_bytes);
  if (user_ != nullptr) chunk_.resize(std::max({chunk_.size(), chunk_bytes, element_bytes_}));
}

void Reduction::apply(std::byte* dst, const std::byte* left, const std::byte* right, Count elements) {
  if (user_ == nullptr) {
    kernel_(dst, left, right, static_cast<std::size_t>(elements));
    return;
  }
  const std::size_t bytes = static_cast<std::size_t>(elements) * element_bytes_;
  if (dst == right) {
    user_->function(left, dst, elements);
  } else if (dst != left) {
    std::memcpy(dst, right, bytes);
    user_->function(left, dst, elements);
  } else {
    const std::size_t step = chunk_.size() / element_bytes_ * element_bytes_;
    for (std::size_t at = 0; at < bytes; at += step) {
      const std::size_t length = std::min(step, bytes - at);
      std::memcpy(chunk_.data(), right + at, length);
      user_->function(left + at, chunk_.data(), static_cast<Count>(length / element_bytes_));
      std::memcpy(dst + at, chunk_.data(), length);
    }
  }
}

}  // namespace circoll::local
