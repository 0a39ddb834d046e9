// CIRCOLL_POLICY=learn: finds out, while a program runs, which algorithm serves its calls fastest.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "circoll/select.hpp"
#include "exec/mpi/call/call.hpp"
#include "exec/mpi/serve/bound_plan.hpp"
#include "wrappers/learn/learned_calls.hpp"

namespace circoll::interpose {

/// Chooses for each call by what was learned of calls like it on the communicator. Blocking calls are learned from;
/// the others get what has won so far. All ranks choose alike: the calls of a communicator come in one order at all of
/// them, calls with arguments of which the library would complain are left out at every rank that makes them, and times
/// are agreed upon.
///
/// Calls with arrays of counts are served as if nothing was learned. So are erroneous ones, and the first ones on a
/// communicator whose placement is not known yet.
class Learner {
 public:
  /// Both must outlive the object. `policy` serves what is not learned about.
  Learner(const Policy& policy, const PolicyOptions& options)
      : policy_(policy), options_(options), model_(make_policy("model", options)) {}

  /// The best ones of an earlier run, to begin with. The same on all ranks; before the first call.
  void begin_with(Learned known) { known_ = std::move(known); }
  /// All that was learned on communicators of which this process is rank 0.
  [[nodiscard]] Learned learned() const { return everywhere_.learned(); }

  /// The choice for one call.
  struct Turn {
    const mpi::InternedChoice* choice = nullptr;
    LearnedCalls* calls = nullptr;  ///< none: the call is not learned from
    LearnedGroup* group = nullptr;
    bool timed = false;  ///< ended() wants the call's time
  };
  /// The turn of a blocking call. `unlearned` is its choice without learning. It counts, so that ended() must follow.
  /// Throws Error and std::bad_alloc.
  [[nodiscard]] Turn turn(const mpi::Call& call, const mpi::InternedChoice& unlearned);
  /// The choice for a call that is not learned from. Likewise.
  [[nodiscard]] const mpi::InternedChoice& best(const mpi::Call& call, const mpi::InternedChoice& unlearned);
  /// The call of a turn has ended, with MPI error code `error`. Agrees with the other ranks if that is due, for which
  /// it waits. Returns an MPI error code, for which the error handler has been called.
  [[nodiscard]] int ended(const Turn& turn, const mpi::Call& call, double seconds, int error);

 private:
  struct Found {
    LearnedCalls* calls = nullptr;
    LearnedCalls::Known known{};
  };
  [[nodiscard]] Found find(const mpi::Call& call, const mpi::InternedChoice& unlearned);
  [[nodiscard]] LearnedCalls::Known learn_about(const mpi::Call& call, const mpi::InternedChoice& unlearned,
                                                const mpi::CommState& state, LearnedCalls& calls);
  [[nodiscard]] LearnedGroup group_of(const CallFacts& facts, const mpi::Call& call, const Decision& decision,
                                      const mpi::InternedChoice& unlearned);
  /// The candidate that was the best in an earlier run, added if it is not there.
  [[nodiscard]] std::optional<std::size_t> known_best(const LearnedKey& key, std::vector<LearnedCandidate>& candidates);
  [[nodiscard]] const mpi::InternedChoice* choice_of(const Selection& selection);

  const Policy& policy_;
  const PolicyOptions& options_;
  std::unique_ptr<const Policy> model_;  ///< ranks the candidates
  Learned known_;
  LearnedEverywhere everywhere_;
  std::mutex mutex_;  ///< of the next
  std::vector<std::pair<std::string, std::unique_ptr<const Policy>>> policies_;
};

}  // namespace circoll::interpose
