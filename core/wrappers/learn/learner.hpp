// CIRCOLL_POLICY=learn: finds out, while a program runs, which algorithm serves its calls fastest.
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "circoll/select.hpp"
#include "exec/mpi/call/call.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/bound_plan.hpp"
#include "interpose/serving.hpp"
#include "wrappers/learn/learned.hpp"
#include "wrappers/learn/learned_calls.hpp"

namespace circoll::interpose {

/// True if there are ranks on several nodes. The same on all ranks.
[[nodiscard]] inline bool spans_nodes(const Placement& placement) { return placement.nodes > 1; }

/// Chooses for each call by what was learned from similar calls on the communicator. It learns from blocking calls. The
/// others get the algorithm that has won so far. All ranks choose alike. The calls of a communicator come in one order
/// at all of them, and the ranks agree on times. Calls with arguments of which the library would complain are left out
/// at every rank that makes them.
///
/// Erroneous calls are served as if nothing was learned. So are the first ones on a communicator whose placement is not
/// known yet, and calls with arrays of counts inside one node. Where results round on more than two ranks, learning
/// begins with the 17th blocking call of a kind, unless an earlier run has left results. So it does across nodes for
/// short blocks without arrays of counts. Before that, these are native.
class Learner {
 public:
  /// Both must outlive the object. `policy` serves what is not learned about.
  Learner(const Policy& policy, const PolicyOptions& options, Learns learns)
      : policy_(policy),
        options_(options),
        learns_(learns),
        model_(make_policy("model", options)),
        classic_(make_policy("classic", options)) {}

  /// The best ones of an earlier run, to begin with. The same on all ranks; before the first call.
  void begin_with(Learned known) { known_ = std::move(known); }
  /// All that was learned on communicators of which this process is rank 0.
  [[nodiscard]] Learned learned() const { return everywhere_.learned(); }

  /// The choice for one call.
  struct Turn {
    const mpi::InternedChoice* choice = nullptr;
    LearnedCalls* calls = nullptr;  ///< none: the call is not learned from
    LearnedGroup* group = nullptr;
    double bytes = 0;    ///< as in LearnedCalls::KnownGroup
    bool timed = false;  ///< ended() wants the call's time
    int error = MPI_SUCCESS;
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
    LearnedCalls::KnownGroup known{};
  };
  [[nodiscard]] Found find(const mpi::Call& call, const mpi::InternedChoice& unlearned, bool has_request);
  /// Nothing if this call says nothing about later ones of its shape.
  [[nodiscard]] std::optional<LearnedCalls::KnownGroup> learn_about(const mpi::Call& call,
                                                                    const mpi::InternedChoice& unlearned,
                                                                    bool has_request, const mpi::CommState& state,
                                                                    LearnedCalls& calls);
  [[nodiscard]] LearnedGroup group_of(const CallFacts& facts, const mpi::Call& call, const Decision& decision,
                                      const mpi::InternedChoice& unlearned, KnownBits& bits);
  /// The exchange through nodes that an alltoallv may try. The model takes none by itself, since no rank knows the
  /// sizes. Nothing: the calls are others, ranks are too many, or the model expects no gain for short blocks.
  [[nodiscard]] std::optional<Selection> through_nodes(CallFacts facts) const;
  /// The candidate that was the best in an earlier run, added if it is not there.
  [[nodiscard]] std::optional<std::size_t> known_best(const LearnedKey& key, std::vector<LearnedCandidate>& candidates);
  [[nodiscard]] const mpi::InternedChoice* choice_of(const Selection& selection);

  const Policy& policy_;
  const PolicyOptions& options_;
  const Learns learns_;
  std::unique_ptr<const Policy> model_;    ///< ranks the candidates
  std::unique_ptr<const Policy> classic_;  ///< has the first of them
  Learned known_;
  LearnedEverywhere everywhere_;
  std::mutex mutex_;  ///< of the next
  std::vector<std::pair<std::string, std::unique_ptr<const Policy>>> policies_;
};

}  // namespace circoll::interpose
