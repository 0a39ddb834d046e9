// A communicator whose blocking collectives survive failures of ranks.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/operation.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "repair/failures.hpp"
#include "wrappers/survive/guard.hpp"
#include "wrappers/survive/halted.hpp"
#include "wrappers/survive/survivors_call.hpp"

namespace circoll::mpi {

/// The result of the last call, for the program.
enum class LastResult : std::uint8_t {
  whole,      ///< the contributions of all ranks of the communicator, or of those that had not failed before
  full,       ///< a failure hit the call, and the contributions of all ranks are in its result nevertheless
  survivors,  ///< those of the survivors
  none,       ///< an error
};

/// A call has two parts, its data and a closing barrier. A rank leaves only when the results of all are whole. Short
/// calls with one result for all have no barrier, but whoever leaves keeps a copy of the result (KeptResult). So after
/// a failure either some rank has left, and all results are whole or can be had, or all survivors are in the call,
/// and their memory is what it was. All state how far they have come (watch::Statement), and come to the same decision.
class GuardedComm final : public Attachment {
 public:
  static constexpr Slot slot = Slot::guard;

  /// The guarded form of a communicator that is open. Collective. Returns an MPI error code.
  [[nodiscard]] int set_up(Guard& guard, CommState& state, MPI_Comm comm);
  [[nodiscard]] bool is_set_up() const { return ward_ != nullptr; }

  [[nodiscard]] Outcome perform(const Call& call, const InternedChoice& choice, bool timed);

  // What a program may ask and do after a failure.
  /// The ranks that calls go without, in ascending order.
  [[nodiscard]] std::vector<int> failed_ranks() const { return failed_.members(static_cast<int>(state_->size())); }
  [[nodiscard]] LastResult last_result() const { return last_; }
  /// Lets calls go on among the survivors where failures are only reported.
  void acknowledge() { acknowledged_ = true; }
  [[nodiscard]] const Interruption* interruption() const { return &interruption_; }

  void clear() noexcept override;

 private:
  /// A call on its way.
  struct Try {
    const Call& call;  ///< the program's
    const InternedChoice& choice;
    KeptResult kept;
    std::optional<SurvivorsCall> meant{};  ///< what the survivors of an earlier failure make of it
    Operation* operation = nullptr;        ///< its data
    std::unique_ptr<Operation> own{};      ///< if it is not one that the communicator keeps
    watch::Stage stage = watch::Stage::data;
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
  [[nodiscard]] Outcome over(int error, LastResult result);
  [[nodiscard]] Outcome refuse(std::string_view reason);
  /// Finds the operation for a call on a state of this communicator. Not served: `reason` says why.
  [[nodiscard]] int find_operation(Try& attempt, CommState& state, const Call& call, const InternedChoice& choice);
  /// Blocks of failed ranks, which only some survivors may have, are not given on.
  [[nodiscard]] bool is_kept(const Try& attempt) const {
    return attempt.kept.is_kept() && (failed_.empty() || attempt.call.collective == Collective::allreduce);
  }
  [[nodiscard]] int run(Operation& operation);
  [[nodiscard]] int commit(const Call& call);
  /// True if a member has failed, or left, of which nothing was known. Takes note of the news.
  [[nodiscard]] bool concerned();

  [[nodiscard]] Outcome recover(Try& attempt);
  [[nodiscard]] watch::Statement state_progress(Try& attempt);
  void make_offer(watch::Statement& own);
  [[nodiscard]] watch::Verdict agree(watch::Statement& own);
  void go_on_without(const watch::Statement& own, const std::vector<std::optional<watch::Statement>>& all);
  [[nodiscard]] std::optional<Repair> find_repair(const Try& attempt, const watch::Statement& own,
                                                  const std::vector<std::optional<watch::Statement>>& all);
  /// Ends the call by a repair, or makes it again. Returns an MPI error code, or `interrupted`.
  [[nodiscard]] int mend(Try& attempt, const Repair& repair);
  [[nodiscard]] int restart(Try& attempt);
  [[nodiscard]] int settle(Try& attempt, const watch::Statement& own,
                           const std::vector<std::optional<watch::Statement>>& all);
  void drop(Try& attempt);
  void spoil(Try& attempt);
  [[nodiscard]] Outcome end_recovery(Try& attempt, int error, double begin_s);

  Guard* guard_ = nullptr;
  CommState* state_ = nullptr;
  std::shared_ptr<watch::Ward> ward_;
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
[[nodiscard]] Outcome perform_guarded(Guard& guard, const Call& call, const InternedChoice& choice, bool timed);

}  // namespace circoll::mpi
