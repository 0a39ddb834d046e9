#include "wrappers/survive/watch/ward.hpp"

#include <sched.h>

#include <limits>
#include <utility>

namespace circoll::watch {

Ward::Ward(Mesh& mesh, std::uint64_t communicator, int rank, std::vector<int> members)
    : mesh_(mesh),
      communicator_(communicator),
      rank_(rank),
      members_(std::move(members)),
      statements_(members_.size()),
      unanswered_(members_.size()) {}

void Ward::close() {
  made_ = std::numeric_limits<std::uint64_t>::max() - 1;
  if (asked_.load()) answer_all();
  tell({.communicator = communicator_, .rank = rank_, .call = made_ + 1, .closing = true});
}

bool Ward::is_closed_by_others() const {
  const std::lock_guard lock(mutex_);
  for (int r = 0; r < size(); ++r) {
    if (r != rank_ && !closed_by_.has(r) && !mesh_.has_ended(world_rank(r))) return false;
  }
  return true;
}

void Ward::hear(int from, Statement statement) {
  if (statement.rank >= size() || world_rank(statement.rank) != from) return;
  const std::lock_guard lock(mutex_);
  const int other = statement.rank;
  const std::uint64_t call = statement.call;
  if (statement.result_of != 0) {
    received_of_ = std::exchange(statement.result_of, 0);
    received_ = std::exchange(statement.result, {});
  }
  const bool closing = statement.closing;
  statements_[static_cast<std::size_t>(other)] = std::move(statement);
  unanswered_[static_cast<std::size_t>(other)] = !closing;
  if (closing) return closed_by_.add(other);
  asked_ = true;  // and then: whether the call has been made
  if (made_.load() >= call) answer(other);
}

void Ward::answer_all() {
  const std::lock_guard lock(mutex_);
  asked_ = false;
  for (int r = 0; r < size(); ++r) {
    if (!unanswered_[static_cast<std::size_t>(r)]) continue;
    asked_ = true;
    if (statements_[static_cast<std::size_t>(r)]->call <= made_.load()) answer(r);
  }
}

/// Under the mutex.
void Ward::answer(int rank) {
  const std::uint64_t next = made_.load() + 1;
  // The other one keeps the last statement that comes, and may need the one about the next call.
  const bool stated = told_ && told_->call == next;
  const Statement beyond{.communicator = communicator_, .rank = rank_, .call = next};
  Statement answer = stated ? *told_ : beyond;
  const Statement& asked = *statements_[static_cast<std::size_t>(rank)];
  if (asked.kept && asked.call == kept_of_) {
    answer.result_of = kept_of_;
    answer.result = kept_;
  }
  mesh_.send(world_rank(rank), to_bytes(answer));
  unanswered_[static_cast<std::size_t>(rank)] = false;
}

void Ward::tell(const Statement& own) {
  const std::lock_guard lock(mutex_);
  told_ = own;
  const std::vector<std::byte> bytes = to_bytes(own);
  for (int r = 0; r < size(); ++r) {
    if (r != rank_ && !mesh_.has_ended(world_rank(r))) mesh_.send(world_rank(r), bytes);
  }
}

Verdict Ward::agree(Statement& own, const std::function<void(Statement&)>& offer,
                    const std::function<void()>& meanwhile) {
  std::uint32_t seen = mesh_.ends();
  own.failed = failed();
  offer(own);
  tell(own);
  while (true) {
    RankSet now = own.failed;
    if (const std::uint32_t ends = mesh_.ends(); ends != seen) {
      seen = ends;
      now = failed();
    }
    // A result that a rank has sent before it failed has come by now.
    if (result_for(own)) return Verdict::committed;
    if (now != own.failed) {
      own.failed = now;
      offer(own);
      tell(own);
    }
    const Verdict verdict = judge(own);
    if (verdict == Verdict::decide || (verdict == Verdict::committed && !own.needs_result())) return verdict;
    meanwhile();
    sched_yield();
  }
}

std::optional<std::vector<std::byte>> Ward::result_for(const Statement& own) const {
  if (!own.needs_result()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (received_of_ != own.call) return std::nullopt;
  return received_;
}

RankSet Ward::failed() const {
  RankSet set;
  for (int r = 0; r < size(); ++r) {
    if (r != rank_ && mesh_.has_failed(world_rank(r))) set.add(r);
  }
  return set;
}

RankSet Ward::gone() const {
  RankSet set;
  for (int r = 0; r < size(); ++r) {
    if (r != rank_ && mesh_.has_left(world_rank(r))) set.add(r);
  }
  return set;
}

Verdict Ward::judge(const Statement& own) {
  const RankSet left = gone();
  const std::lock_guard lock(mutex_);
  const Verdict verdict = watch::judge(own, statements_, left);
  if (verdict == Verdict::decide) decided_by_ = statements_;
  return verdict;
}

}  // namespace circoll::watch
