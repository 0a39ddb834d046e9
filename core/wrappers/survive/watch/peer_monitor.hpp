// The part of a guarded communicator that the watching thread sees.
//
// Survivors of a failure agree on what to do by statements of processes about a collective call.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "wrappers/survive/watch/mesh.hpp"

namespace circoll::watch {

/// A set of ranks of a communicator.
class RankSet {
 public:
  static constexpr int most = 256;

  void add(int rank) { words_[word(rank)] |= bit(rank); }
  [[nodiscard]] bool has(int rank) const { return (words_[word(rank)] & bit(rank)) != 0; }
  [[nodiscard]] bool empty() const { return *this == RankSet{}; }
  [[nodiscard]] int count() const;
  /// The ranks 0 .. size-1 that are in the set, or that are not.
  [[nodiscard]] std::vector<int> members(int size) const { return ranks(size, true); }
  [[nodiscard]] std::vector<int> others(int size) const { return ranks(size, false); }

  friend bool operator==(const RankSet&, const RankSet&) = default;

 private:
  static std::size_t word(int rank) { return static_cast<std::size_t>(rank) / 64; }
  static std::uint64_t bit(int rank) { return std::uint64_t{1} << (static_cast<unsigned>(rank) % 64U); }
  [[nodiscard]] std::vector<int> ranks(int size, bool in_set) const;

  std::array<std::uint64_t, most / 64> words_{};
};

/// The part of a call that a rank is in.
enum class CallPart : std::uint8_t {
  before,      ///< it will make the call, and waits for nobody meanwhile
  data,        ///< messages of the call are under way
  committing,  ///< its result is whole, and it waits for the others' to be
};

/// A rank's statement. Calls of a communicator are numbered from 1 on.
struct Statement {
  std::uint64_t communicator = 0;
  int rank = 0;            ///< in the communicator
  std::uint64_t call = 0;  ///< the call that it is in, or the next one
  CallPart stage = CallPart::before;
  bool spoiled = false;      ///< nobody knows what the memory of the call holds: it cannot be repaired
  bool overwritten = false;  ///< the rank's contribution may be gone: the call cannot be made again
  bool in_place = false;     ///< the contribution came in the receive buffer
  bool kept = false;         ///< ranks leave the call with a copy of its result, which they keep for the others
  bool closing = false;      ///< the rank makes no more calls, and has nothing more to ask
  RankSet failed{};          ///< the failed ranks that it knows of
  std::array<std::int32_t, 2> tags{};  ///< offered for messages among the survivors
  /// The steps of its schedule that have ended, and those that may have written a part.
  std::vector<bool> ended{};
  std::vector<bool> torn{};
  /// A result that was kept, and the number of its call.
  std::uint64_t result_of = 0;
  std::vector<std::byte> result{};

  /// True if the rank needs a result that another one has kept, once some have left.
  [[nodiscard]] bool needs_result() const { return kept && stage == CallPart::data; }
};

[[nodiscard]] std::vector<std::byte> to_bytes(const Statement& statement);
/// Nothing if these bytes are no statement.
[[nodiscard]] std::optional<Statement> statement_from(std::span<const std::byte> bytes);

/// The next thing that a rank does after a failure.
enum class NextStep : std::uint8_t {
  wait,       ///< for more statements
  committed,  ///< the call has been made: every result is whole, or can be had from a rank that has left the call
  decide,     ///< all survivors are in the call, and each knows of all how far they have come
};

/// The verdict for a rank that has stated `own`. `others` has the last statement of every rank, where there is one. A
/// rank of `gone` has left the communicator for good, after its last call.
[[nodiscard]] NextStep judge(const Statement& own, std::span<const std::optional<Statement>> others,
                             const RankSet& gone);

/// Ranks wait for one another's statements after a failure only. A rank that has made a call already, and is elsewhere,
/// answers by this object.
class PeerMonitor {
 public:
  /// `members` are the ranks of the communicator in MPI_COMM_WORLD.
  PeerMonitor(Mesh& mesh, std::uint64_t communicator, int rank, std::vector<int> members);

  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] std::uint64_t communicator() const { return communicator_; }
  [[nodiscard]] const std::vector<int>& members() const { return members_; }
  [[nodiscard]] int world_rank(int rank) const { return members_[static_cast<std::size_t>(rank)]; }

  /// The number of calls that were made. By the thread of the communicator.
  [[nodiscard]] std::uint64_t made() const { return made_.load(std::memory_order_relaxed); }
  /// One more call has been made. This tells the ranks that have asked about it.
  void make_one() {
    made_.store(made_.load(std::memory_order_relaxed) + 1);
    if (asked_.load()) [[unlikely]]
      answer_all();
  }
  /// Keeps the result of the call that is under way, for ranks that a failure hits in it. `write` appends its bytes.
  /// The next result takes its place: it is made when all have made this one.
  template <typename Write>
  void keep(Write write) {
    const std::lock_guard lock(mutex_);
    kept_of_ = made() + 1;
    kept_.clear();
    write(kept_);
  }
  /// The result that a rank needs (Statement::needs_result), once one that has kept it has sent it. Nothing if it needs
  /// none.
  [[nodiscard]] std::optional<std::vector<std::byte>> result_for(const Statement& own) const;

  /// No more calls will be made. The others are told. Until they have closed, too, they may ask for what is kept.
  void close();
  /// True if no other rank has anything to ask any more.
  [[nodiscard]] bool is_closed_by_others() const;

  /// Takes a statement of another rank, whose process sent it.
  void hear(int from, Statement statement);
  /// Tells the other ranks the statement about a call that a failure has hit, and waits for their statements. Whenever
  /// another rank fails, tells it again, with `failed` brought up to date. Calls `meanwhile` again and again.
  ///
  /// `offer` puts new tags into the statement each time before it is told. Other ranks may have decided by an earlier
  /// statement, and have sent messages with its tags, while this rank has not.
  ///
  /// Verdicts:
  ///   committed  every result is whole; a result that this rank needs is at result_for()
  ///   decide     all survivors have the same statements(), and the same `own.failed`
  [[nodiscard]] NextStep agree(Statement& own, const std::function<void(Statement&)>& offer,
                               const std::function<void()>& meanwhile);
  /// The statements by which agree() came to its decision, by rank. Newer ones may have come since, at this rank and
  /// not yet at others.
  [[nodiscard]] const std::vector<std::optional<Statement>>& statements() const { return decided_by_; }

 private:
  void tell(const Statement& own);
  /// The other ranks of which the mesh says something.
  [[nodiscard]] RankSet others_that(bool (Mesh::*says)(int) const) const;
  [[nodiscard]] RankSet failed() const { return others_that(&Mesh::has_failed); }
  [[nodiscard]] NextStep judge(const Statement& own);
  void answer_all();
  void answer(int rank);

  Mesh& mesh_;
  std::uint64_t communicator_;
  int rank_;
  std::vector<int> members_;
  std::atomic<std::uint64_t> made_{0};
  std::atomic<bool> asked_{false};  ///< some are unanswered
  mutable std::mutex mutex_;
  std::vector<std::optional<Statement>> statements_;
  std::vector<std::optional<Statement>> decided_by_;  ///< of the thread that has called agree()
  std::vector<bool> unanswered_;                      ///< statements about calls that this rank had not made
  RankSet closed_by_{};
  std::optional<Statement> told_;  ///< this rank's last one
  std::uint64_t kept_of_ = 0;      ///< 0: nothing is kept
  std::vector<std::byte> kept_;
  std::uint64_t received_of_ = 0;
  std::vector<std::byte> received_;
};

}  // namespace circoll::watch
