#include "exec/mpi/pending/progress.hpp"

#include <sched.h>

#include <algorithm>
#include <new>

namespace circoll::mpi {

Progress& progress() {
  static auto* const instance = new Progress;
  return *instance;
}

void Progress::add(Pending& pending) {
  CommState& state = pending.comm_state();
  Work& operation = pending.operation();
  {
    const std::lock_guard lock(mutex_);
    // The allocation comes first, because it can fail.
    if (arrived_.size() == arrived_.capacity()) arrived_.reserve(2 * arrived_.size() + batch);
  }
  pending.started_ = operation.may_start();
  if (operation.numbered()) state.add_unfinished(operation.first_number());
  state.retain();
  if (pending.started_) {
    try {
      operation.start();
    } catch (const std::bad_alloc&) {
      operation.fail(MPI_ERR_NO_MEM);
    } catch (...) {
      operation.fail(MPI_ERR_INTERN);
    }
  }
  pending.begun();
  {
    const std::lock_guard lock(mutex_);
    arrived_.push_back(&pending);
    pending_.fetch_add(1, std::memory_order_relaxed);
  }
  if (!listening_) return;
  ++signals_;
  signals_.notify_one();
}

template <typename Condition>
bool Progress::any(Condition condition) {
  if (pending() == 0) return false;
  while (polling_.exchange(true, std::memory_order_acquire)) sched_yield();
  bool found = std::any_of(active_.begin(), active_.end(), condition);
  {
    const std::lock_guard lock(mutex_);
    found = found || std::any_of(arrived_.begin(), arrived_.end(), condition);
  }
  polling_.store(false, std::memory_order_release);
  return found;
}

bool Progress::owns(MPI_Request request) {
  return any([request](const Pending* pending) { return pending->request() == request; });
}

bool Progress::has(const CommState& state) {
  return any([&state](Pending* pending) { return &pending->comm_state() == &state; });
}

bool Progress::await_pending() {
  while (listening_) {
    const std::uint32_t seen = signals_;
    if (pending() > 0) return true;
    if (listening_) signals_.wait(seen);
  }
  return false;
}

void Progress::set_listening(bool listening) {
  listening_ = listening;
  ++signals_;
  signals_.notify_all();
}

bool Progress::advance(Pending& pending, bool asks) noexcept {
  Work& operation = pending.operation();
  try {
    if (!pending.started_ && operation.may_start()) {
      pending.started_ = true;
      operation.start();
    }
    if (pending.started_ && operation.progress()) return true;
    if (asks) {
      if (const int error = pending.comm_state().find_failure(); error != MPI_SUCCESS) {
        operation.fail(error);
        return true;
      }
    }
    // The survivors of a failure may have gone on to other calls. Then nobody ends this operation.
    const auto error_of_lost = progress().error_of_lost_.load(std::memory_order_relaxed);
    const int lost = error_of_lost == nullptr ? MPI_SUCCESS : error_of_lost(pending.comm_state());
    if (lost == MPI_SUCCESS) return false;
    operation.fail(lost);
  } catch (const std::bad_alloc&) {
    operation.fail(MPI_ERR_NO_MEM);
  } catch (...) {
    operation.fail(MPI_ERR_INTERN);
  }
  return true;
}

void Progress::take_arrived() noexcept {
  try {
    active_.insert(active_.end(), arrived_.begin(), arrived_.end());
    arrived_.clear();
  } catch (const std::bad_alloc&) {
    return;  // they are taken at a later poll
  }
}

void Progress::end(Pending& pending) noexcept {
  CommState& state = pending.comm_state();
  if (pending.operation().numbered()) state.remove_unfinished(pending.operation().first_number());
  pending_.fetch_sub(1, std::memory_order_relaxed);
  pending.finished();
  state.release();
}

int Progress::end_all(CommState& state) noexcept {
  const auto first = std::stable_partition(active_.begin(), active_.end(),
                                           [&](Pending* pending) { return &pending->comm_state() != &state; });
  const std::vector<Pending*>::difference_type kept = first - active_.begin();
  for (auto it = first; it != active_.end(); ++it) {
    (*it)->started_ = true;
    (*it)->operation().fail(state.failure());
  }
  const int ended = static_cast<int>(active_.end() - first);
  // Observers may make other calls, but these do not come here.
  for (auto it = active_.begin() + kept; it != active_.end(); ++it) end(**it);
  active_.erase(active_.begin() + kept, active_.end());
  next_ = 0;
  return ended;
}

int Progress::poll() noexcept {
  if (pending() == 0) return 0;
  if (polling_.exchange(true, std::memory_order_acquire)) return 0;
  {
    const std::lock_guard lock(mutex_);
    take_arrived();
  }
  int ended = 0;
  const bool asks = library::tells_failures && ++polls_ % polls_before_asking == 0;
  const std::size_t asked = std::min(batch, active_.size());
  for (std::size_t i = 0; i < asked && !active_.empty(); ++i) {
    if (next_ >= active_.size()) next_ = 0;
    Pending& pending = *active_[next_];
    if (!advance(pending, asks)) {
      ++next_;
      continue;
    }
    if (library::is_failure(pending.operation().error())) {
      ended += end_all(pending.comm_state());
      continue;
    }
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(next_));
    ++ended;
    end(pending);
  }
  polling_.store(false, std::memory_order_release);
  return ended;
}

}  // namespace circoll::mpi
