#include "wrappers/survive/watch/peer_monitor.hpp"

#include <sched.h>

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace circoll::watch {
namespace {

/// The part of a statement that has a fixed size.
struct Head {
  std::uint64_t communicator;
  std::uint64_t call;
  std::uint64_t result_of;
  RankSet failed;
  std::array<std::int32_t, 2> tags;
  std::uint32_t rank;
  std::uint32_t steps;
  std::uint32_t stage;
  std::uint32_t flags;
  std::uint64_t result_bytes;
};
static_assert(std::is_trivially_copyable_v<Head>);
/// Bits of Head::flags.
constexpr std::uint32_t spoiled = 1, overwritten = 2, in_place = 4, kept = 8, closing = 16;

std::size_t bytes_for(std::size_t steps) { return (steps + 7) / 8; }

void put(const std::vector<bool>& bits, std::byte* to) {
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) to[i / 8] |= std::byte{1} << (i % 8);
  }
}

std::vector<bool> get(const std::byte* from, std::size_t steps) {
  std::vector<bool> bits(steps);
  for (std::size_t i = 0; i < steps; ++i) bits[i] = (from[i / 8] & std::byte{1} << (i % 8)) != std::byte{0};
  return bits;
}

}  // namespace

int RankSet::count() const {
  int all = 0;
  for (const std::uint64_t word : words_) all += std::popcount(word);
  return all;
}

std::vector<int> RankSet::ranks(int size, bool in_set) const {
  std::vector<int> ranks;
  for (int r = 0; r < size; ++r) {
    if (has(r) == in_set) ranks.push_back(r);
  }
  return ranks;
}

std::vector<std::byte> to_bytes(const Statement& statement) {
  const std::size_t steps = statement.ended.size();
  const Head head{.communicator = statement.communicator,
                  .call = statement.call,
                  .result_of = statement.result_of,
                  .failed = statement.failed,
                  .tags = statement.tags,
                  .rank = static_cast<std::uint32_t>(statement.rank),
                  .steps = static_cast<std::uint32_t>(steps),
                  .stage = static_cast<std::uint32_t>(statement.stage),
                  .flags = (statement.spoiled ? spoiled : 0U) | (statement.overwritten ? overwritten : 0U) |
                           (statement.in_place ? in_place : 0U) | (statement.kept ? kept : 0U) |
                           (statement.closing ? closing : 0U),
                  .result_bytes = statement.result.size()};
  std::vector<std::byte> bytes(sizeof head + 2 * bytes_for(steps));
  std::memcpy(bytes.data(), &head, sizeof head);
  put(statement.ended, bytes.data() + sizeof head);
  put(statement.torn, bytes.data() + sizeof head + bytes_for(steps));
  bytes.insert(bytes.end(), statement.result.begin(), statement.result.end());
  return bytes;
}

std::optional<Statement> statement_from(std::span<const std::byte> bytes) {
  Head head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::size_t beside = sizeof head + 2 * bytes_for(head.steps);
  if (bytes.size() < beside || bytes.size() - beside != head.result_bytes || head.rank >= RankSet::most ||
      head.stage > static_cast<std::uint32_t>(CallPart::committing) ||
      head.flags > (spoiled | overwritten | in_place | kept | closing))
    return std::nullopt;
  const std::byte* const bits = bytes.data() + sizeof head;
  return Statement{.communicator = head.communicator,
                   .rank = static_cast<int>(head.rank),
                   .call = head.call,
                   .stage = static_cast<CallPart>(head.stage),
                   .spoiled = (head.flags & spoiled) != 0,
                   .overwritten = (head.flags & overwritten) != 0,
                   .in_place = (head.flags & in_place) != 0,
                   .kept = (head.flags & kept) != 0,
                   .closing = (head.flags & closing) != 0,
                   .failed = head.failed,
                   .tags = head.tags,
                   .ended = get(bits, head.steps),
                   .torn = get(bits + bytes_for(head.steps), head.steps),
                   .result_of = head.result_of,
                   .result = {bytes.begin() + static_cast<std::ptrdiff_t>(beside), bytes.end()}};
}

NextStep judge(const Statement& own, std::span<const std::optional<Statement>> others, const RankSet& gone) {
  bool all_here = true;
  bool all_whole = own.stage == CallPart::committing;
  for (std::size_t r = 0; r < others.size(); ++r) {
    const int rank = static_cast<int>(r);
    if (rank == own.rank) continue;
    const std::optional<Statement>& other = others[r];
    // A rank leaves a call only when all have made it, including those that have failed since. Or it leaves with a
    // result for others, which is lost if it fails.
    const bool counts = !own.kept || own.stage == CallPart::committing || !own.failed.has(rank);
    if (counts && (gone.has(rank) || (other && other->call > own.call))) return NextStep::committed;
    if (own.failed.has(rank)) continue;
    const bool here =
        other && other->call == own.call && other->stage != CallPart::before && other->failed == own.failed;
    all_here = all_here && here;
    all_whole = all_whole && here && other->stage == CallPart::committing;
  }
  if (!all_here) return NextStep::wait;
  return all_whole ? NextStep::committed : NextStep::decide;
}

PeerMonitor::PeerMonitor(Mesh& mesh, std::uint64_t communicator, int rank, std::vector<int> members)
    : mesh_(mesh),
      communicator_(communicator),
      rank_(rank),
      members_(std::move(members)),
      statements_(members_.size()),
      unanswered_(members_.size()) {}

void PeerMonitor::close() {
  made_ = std::numeric_limits<std::uint64_t>::max() - 1;
  if (asked_.load()) answer_all();
  tell({.communicator = communicator_, .rank = rank_, .call = made_ + 1, .closing = true});
}

bool PeerMonitor::is_closed_by_others() const {
  const std::lock_guard lock(mutex_);
  for (int r = 0; r < size(); ++r) {
    if (r != rank_ && !closed_by_.has(r) && !mesh_.has_ended(world_rank(r))) return false;
  }
  return true;
}

void PeerMonitor::hear(int from, Statement statement) {
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

void PeerMonitor::answer_all() {
  const std::lock_guard lock(mutex_);
  asked_ = false;
  for (int r = 0; r < size(); ++r) {
    if (!unanswered_[static_cast<std::size_t>(r)]) continue;
    asked_ = true;
    if (statements_[static_cast<std::size_t>(r)]->call <= made_.load()) answer(r);
  }
}

/// Under the mutex.
void PeerMonitor::answer(int rank) {
  const std::uint64_t next = made_.load() + 1;
  // The other rank keeps the last statement that comes, and may need the one about the next call.
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

void PeerMonitor::tell(const Statement& own) {
  const std::lock_guard lock(mutex_);
  told_ = own;
  const std::vector<std::byte> bytes = to_bytes(own);
  for (int r = 0; r < size(); ++r) {
    if (r != rank_ && !mesh_.has_ended(world_rank(r))) mesh_.send(world_rank(r), bytes);
  }
}

NextStep PeerMonitor::agree(Statement& own, const std::function<void(Statement&)>& offer,
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
    if (result_for(own)) return NextStep::committed;
    if (now != own.failed) {
      own.failed = now;
      offer(own);
      tell(own);
    }
    const NextStep verdict = judge(own);
    if (verdict == NextStep::decide || (verdict == NextStep::committed && !own.needs_result())) return verdict;
    meanwhile();
    sched_yield();
  }
}

std::optional<std::vector<std::byte>> PeerMonitor::result_for(const Statement& own) const {
  if (!own.needs_result()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (received_of_ != own.call) return std::nullopt;
  return received_;
}

RankSet PeerMonitor::others_that(bool (Mesh::*says)(int) const) const {
  RankSet set;
  for (int r = 0; r < size(); ++r) {
    if (r != rank_ && (mesh_.*says)(world_rank(r))) set.add(r);
  }
  return set;
}

NextStep PeerMonitor::judge(const Statement& own) {
  const RankSet left = others_that(&Mesh::has_left);
  const std::lock_guard lock(mutex_);
  const NextStep verdict = watch::judge(own, statements_, left);
  if (verdict == NextStep::decide) decided_by_ = statements_;
  return verdict;
}

}  // namespace circoll::watch
