
#include <utility>

#include "exec/local/comm.hpp"

namespace circoll::local {

namespace {

/// The choice of a call, whose arguments are checked first.
const prepare::InternedChoice& choice_of(Comm::Impl& comm, const Call& call, const Choice& choice) {
  comm.check_arguments(call);
  return comm.intern(call.collective, choice);
}

}  // namespace

PendingCall::PendingCall(Comm::Impl& comm, const Call& call, const Choice& choice, Kind kind)
    : comm_(comm), call_(call), choice_(choice_of(comm, call, choice)), kind_(kind) {
  numbers_.reserve(call.counts.size() + call.displs.size() + call.send_counts.size() + call.send_displs.size());
  keep(&Call::counts);
  keep(&Call::displs);
  keep(&Call::send_counts);
  keep(&Call::send_displs);
}

PendingCall::~PendingCall() {
  if (state_ != State::begun) return;
  if (std::uncaught_exceptions() > exceptions_) {
    comm_.pending().abandon();
    return;
  }
  try {
    comm_.pending().finish(*this);
  } catch (...) {
    comm_.pending().abandon();  // no memory to go on
  }
}

void PendingCall::keep(std::span<const Count> Call::*array) {
  const std::span<const Count> from = call_.*array;
  const std::size_t first = numbers_.size();
  numbers_.insert(numbers_.end(), from.begin(), from.end());
  call_.*array = std::span<const Count>(numbers_).subspan(first);
}

void PendingCall::start() {
  exceptions_ = std::uncaught_exceptions();
  comm_.endpoint().check_world();
  comm_.pending().add(*this);
}

void PendingCall::end_seen() {
  state_ = State::inactive;
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

bool PendingCall::test() {
  comm_.pending().advance();
  if (state_ == State::begun) return false;
  end_seen();
  return true;
}

void PendingCall::wait() {
  comm_.pending().finish(*this);
  end_seen();
}

void PendingCalls::add(PendingCall& call) {
  calls_.push_back(&call);
  call.state_ = PendingCall::State::begun;
  if (calls_.size() == 1) begin_first();
}

void PendingCalls::end_first(std::exception_ptr failure) {
  PendingCall& call = *calls_.front();
  calls_.erase(calls_.begin());
  call.failure_ = std::move(failure);
  call.state_ = PendingCall::State::ended;
}

void PendingCalls::begin_first() {
  while (!calls_.empty()) {
    try {
      comm_.begin(calls_.front()->call_, calls_.front()->choice_);
      return;
    } catch (...) {
      end_first(std::current_exception());
    }
  }
}

void PendingCalls::advance() {
  while (!calls_.empty()) {
    try {
      if (!comm_.poll()) return;
      end_first(nullptr);
    } catch (...) {
      end_first(std::current_exception());
    }
    begin_first();
  }
}

void PendingCalls::finish() {
  for (advance(); !empty(); advance()) comm_.wait();
}

void PendingCalls::finish(const PendingCall& call) {
  for (advance(); call.state_ == PendingCall::State::begun; advance()) comm_.wait();
}

void PendingCalls::abandon() noexcept {
  comm_.endpoint().abandon();
  while (!calls_.empty()) {
    end_first(std::make_exception_ptr(Error(ErrorCode::transport, "a request was given up by an exception")));
  }
}

}  // namespace circoll::local
