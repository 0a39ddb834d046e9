// The guard of a process, which watches the other processes, and communicators whose collectives survive failures.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/operation.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "repair/failures.hpp"
#include "wrappers/survive/halted.hpp"
#include "wrappers/survive/survivors_call.hpp"
#include "wrappers/survive/watch/peer_monitor.hpp"

namespace circoll::mpi {

/// The treatment of a failure.
enum class FaultMode : std::uint8_t {
  report,  ///< a call that it hits returns an error, on all survivors
  finish,  ///< survivors end the call from what they hold, or make it again
};

/// Counts of what became of calls that failures hit.
struct FaultCounts {
  std::uint64_t committed = 0;  ///< every result was whole already
  std::uint64_t full = 0;       ///< repaired, with the contributions of all
  std::uint64_t surv = 0;       ///< repaired, with those of the survivors
  std::uint64_t restarted = 0;  ///< made again by the survivors
  std::uint64_t refused = 0;    ///< an error
  double longest_s = 0;         ///< from the news of a failure to the result
};

/// The ranks in MPI_COMM_WORLD of a group, or of a communicator, both groups of an intercommunicator.
[[nodiscard]] std::vector<int> members_of_group(MPI_Group group);
[[nodiscard]] std::vector<int> members_of(MPI_Comm comm);

/// Part of the executor's global state (HACKING.md).
class Guard {
 public:
  /// The guard of this process; nullptr if failures end the job, as without it.
  [[nodiscard]] static Guard* known() { return instance_.load(std::memory_order_acquire); }
  /// Makes it. Collective over MPI_COMM_WORLD, when nothing else is under way, after share_world(). Returns why there
  /// is none, alike on all ranks; empty if there is one.
  [[nodiscard]] static std::string begin(FaultMode mode);

  [[nodiscard]] FaultMode mode() const { return mode_; }
  [[nodiscard]] watch::Mesh& mesh() { return mesh_; }
  /// MPI's error code of a call that a failure has hit.
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] int rank() const { return rank_; }

  /// A number for a communicator. No process of the job gives it to another one.
  [[nodiscard]] std::uint64_t new_number();
  void add(const std::shared_ptr<watch::PeerMonitor>& peer_monitor);
  /// Closes a peer_monitor, and keeps it for as long as others may ask.
  void close(const std::shared_ptr<watch::PeerMonitor>& peer_monitor);

  void count(const std::function<void(FaultCounts&)>& change);
  [[nodiscard]] FaultCounts counts() const;
  /// The processes of MPI_COMM_WORLD that have failed.
  [[nodiscard]] std::vector<int> failed() const;

  /// True if a process of a communicator is known to have failed. Quick while none has.
  [[nodiscard]] bool hits(const CommState& state) const;

  /// The time in which a thread is inside a wait that never ends if one of some processes fails. If one fails, the job
  /// is ended some time later, with a message.
  class Unguarded {
   public:
    /// `what` is a literal. A thread that is still inside `patience` after a failure will not come out.
    Unguarded(Guard& guard, std::vector<int> members, const char* what,
              std::chrono::seconds patience = std::chrono::seconds(3));
    ~Unguarded();
    Unguarded(const Unguarded&) = delete;
    Unguarded& operator=(const Unguarded&) = delete;

   private:
    friend class Guard;
    Guard& guard_;
    const char* what_;
    std::vector<int> members_;  ///< in MPI_COMM_WORLD
    std::chrono::seconds patience_;
    std::optional<std::chrono::steady_clock::time_point> hit_{};
  };

 private:
  Guard(FaultMode mode, int rank, int size);
  void drop_if_closed(const watch::PeerMonitor& peer_monitor);
  void heard(int from, std::span<const std::byte> message);
  void look_at_unguarded();

  static inline std::atomic<Guard*> instance_{nullptr};  ///< every call looks here

  FaultMode mode_;
  int rank_;
  int size_;
  int error_ = MPI_ERR_OTHER;
  mutable std::mutex mutex_;  // of the next six
  std::map<std::uint64_t, std::shared_ptr<watch::PeerMonitor>> peer_monitors_;
  std::map<std::uint64_t, std::shared_ptr<watch::PeerMonitor>> closed_;  ///< of communicators that have been freed here
  std::map<std::uint64_t, std::vector<std::pair<int, watch::Statement>>> early_;  ///< of communicators not yet known
  std::uint32_t numbers_ = 0;
  FaultCounts counts_;
  std::list<Unguarded*> unguarded_;
  watch::Mesh mesh_;  // the last: its thread uses all of the above
};

/// The result of the last call, for the program.
enum class LastResult : std::uint8_t {
  whole,      ///< the contributions of all ranks of the communicator, or of those that had not failed before
  full,       ///< a failure hit the call, and the contributions of all ranks are in its result nevertheless
  survivors,  ///< those of the survivors
  none,       ///< an error
};

/// A call has two parts, its data and a closing barrier. A rank leaves only when the results of all are whole. Short
/// calls with one result for all have no barrier, but a rank that leaves keeps a copy of the result (KeptResult). So
/// after a failure there are two cases. If some rank has left, all results are whole or can be had. Otherwise all
/// survivors are in the call, and their memory is what it was. All ranks state how far they have come
/// (watch::Statement), and come to the same decision.
class GuardedComm final : public Attachment {
 public:
  static constexpr Slot slot = Slot::guard;

  /// The guarded form of a communicator that is open. Collective. Returns an MPI error code.
  [[nodiscard]] int set_up(Guard& guard, CommState& state, MPI_Comm comm);
  [[nodiscard]] bool is_set_up() const { return peer_monitor_ != nullptr; }

  [[nodiscard]] CallResult perform(const Call& call, const InternedChoice& choice, bool timed);

  // These functions serve a program's questions and requests after a failure.
  /// The ranks that calls go without, in ascending order.
  [[nodiscard]] std::vector<int> failed_ranks() const { return failed_.members(static_cast<int>(state_->size())); }
  [[nodiscard]] LastResult last_result() const { return last_; }
  /// Lets calls go on among the survivors where failures are only reported.
  void acknowledge() { acknowledged_ = true; }
  [[nodiscard]] const Interruption* interruption() const { return &interruption_; }

  void clear() noexcept override;

 private:
  /// A call on its way.
  struct Attempt {
    const Call& call;  ///< the program's
    const InternedChoice& choice;
    KeptResult kept;
    std::optional<SurvivorsCall> meant{};  ///< what the survivors of an earlier failure make of it
    Operation* operation = nullptr;        ///< its data
    std::unique_ptr<Operation> own{};      ///< if it is not one that the communicator keeps
    watch::CallPart stage = watch::CallPart::data;
    bool fresh = false;   ///< it has not begun
    bool halted = false;  ///< the operation was interrupted, and its memory is as it was
    Halted halt{};
    bool spoiled = false;  ///< as Statement
    bool overwritten = false;
    bool refused = false;                                       ///< all survivors return an error
    LastResult result = LastResult::whole;                      ///< if it ends well
    std::uint64_t FaultCounts::*how = &FaultCounts::committed;  ///< likewise
  };

  [[nodiscard]] static const InternedChoice& choice_for(Collective collective, const InternedChoice& choice);
  [[nodiscard]] CommState& now() { return failed_.empty() ? *state_ : *survivors_; }
  [[nodiscard]] CallResult over(int error, LastResult result);
  [[nodiscard]] CallResult refuse(std::string_view reason);
  /// Finds the operation for a call on a state of this communicator. Not served: `reason` says why.
  [[nodiscard]] int find_operation(Attempt& attempt, CommState& state, const Call& call, const InternedChoice& choice);
  /// Blocks of failed ranks, which only some survivors may have, are not given on.
  [[nodiscard]] bool is_kept(const Attempt& attempt) const {
    return attempt.kept.is_kept() && (failed_.empty() || attempt.call.collective == Collective::allreduce);
  }
  [[nodiscard]] int run(Operation& operation);
  [[nodiscard]] int commit(const Call& call);
  /// True if a member has failed or left without this rank knowing. Takes note of that.
  [[nodiscard]] bool concerned();

  [[nodiscard]] CallResult recover(Attempt& attempt);
  [[nodiscard]] watch::Statement state_progress(Attempt& attempt);
  void make_offer(watch::Statement& own);
  [[nodiscard]] watch::NextStep agree(watch::Statement& own);
  void go_on_without(const watch::Statement& own, const std::vector<std::optional<watch::Statement>>& all);
  [[nodiscard]] std::optional<Repair> find_repair(const Attempt& attempt, const watch::Statement& own,
                                                  const std::vector<std::optional<watch::Statement>>& all);
  /// Ends the call by a repair, or makes it again. Returns an MPI error code, or `interrupted`.
  [[nodiscard]] int apply_repair(Attempt& attempt, const Repair& repair);
  [[nodiscard]] int restart(Attempt& attempt);
  [[nodiscard]] int settle(Attempt& attempt, const watch::Statement& own,
                           const std::vector<std::optional<watch::Statement>>& all);
  void drop(Attempt& attempt);
  void retire(Attempt& attempt);
  [[nodiscard]] CallResult end_recovery(Attempt& attempt, int error, double begin_s);

  Guard* guard_ = nullptr;
  CommState* state_ = nullptr;
  std::shared_ptr<watch::PeerMonitor> peer_monitor_;
  Interruption interruption_{};
  watch::RankSet failed_{};
  bool acknowledged_ = false;
  LastResult last_ = LastResult::whole;
  std::unique_ptr<CommState> survivors_;  ///< if some have failed
  std::unique_ptr<Operation> barrier_;    ///< of all, or of the survivors
  // Of the agreement that is under way.
  std::unique_ptr<CommState> offered_;
  std::unique_ptr<TagRange> repair_tags_;
  std::vector<Count> counts_;
  std::string_view reason_{};
};

/// A blocking call: guarded if that can be, else as perform() does it.
[[nodiscard]] CallResult perform_guarded(Guard& guard, const Call& call, const InternedChoice& choice, bool timed);

}  // namespace circoll::mpi
