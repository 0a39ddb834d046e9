#include "interpose/learner.hpp"

#include <mpi.h>

#include <algorithm>

#include "circoll/bits.hpp"
#include "circoll/collectives.hpp"
#include "exec/mpi/call/caller_buffers.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "interpose/ledger.hpp"
#include "prepare/prepared_call.hpp"

namespace circoll::interpose {
namespace {

/// Algorithms that are tried beside the model's choice and the library's own: those that it ranks next.
constexpr std::size_t most_tried = 4;
/// An algorithm that the model takes for so much slower is not tried.
constexpr double hopeless = 3;
/// Up to this p it is computed which algorithms give the same bits.
constexpr Rank most_ranks_of_bits = 128;

bool rounds(const CallFacts& facts) { return is_reducing(facts.collective) && !facts.exact_op; }

/// The bit class of a selection, completed for a call. None if it cannot be told, which makes it like no other.
std::optional<BitClass> bits_of(const Selection& selection, const CallFacts& facts, int root,
                                const PolicyOptions& options) {
  if (facts.p > most_ranks_of_bits) return std::nullopt;
  const Selection whole = completed(selection, facts.p, facts.bytes, options.machine);
  const Shape shape{.size = facts.p, .root = is_rooted(facts.collective) ? root : 0, .params = whole.params};
  return bit_class(*whole.algorithm, facts.collective, shape, facts.predefined_op ? BitsOf::commuting : BitsOf::any);
}

/// The candidates that may serve a call without changing a bit of its result.
std::uint32_t allowed_of(const LearnedGroup& group, const CallFacts& facts, int root, const Decision& decision,
                         const PolicyOptions& options) {
  if (!rounds(facts)) return (std::uint32_t{1} << group.candidates.size()) - 1;
  const std::optional<BitClass> wanted = bits_of(*decision.selection, facts, root, options);
  std::uint32_t allowed = 1;
  for (std::size_t i = 1; i < group.candidates.size(); ++i) {
    const std::optional<BitClass> has = bits_of(group.candidates[i].selection, facts, root, options);
    if (wanted && has && *wanted == *has) allowed |= std::uint32_t{1} << i;
  }
  return allowed;
}

}  // namespace

LearnedCalls::~LearnedCalls() = default;

const mpi::InternedChoice* Learner::choice_of(const Selection& selection) {
  const std::string text = std::string(to_string(selection.collective)) + '/' + selection.text();
  const std::lock_guard lock(mutex_);
  for (const auto& [name, policy] : policies_) {
    if (name == text) return mpi::intern(selection.collective, *policy);
  }
  policies_.emplace_back(text, make_fixed_policy(selection, options_));
  return mpi::intern(selection.collective, *policies_.back().second);
}

LearnedGroup Learner::group_of(const CallFacts& facts, const Decision& decision, const mpi::InternedChoice& unlearned) {
  std::vector<LearnedCandidate> candidates;
  std::vector<double> predicted_s;
  const auto add = [&](const mpi::InternedChoice* choice, Selection selection, std::string name, double seconds) {
    LearnedCandidate candidate;
    candidate.choice = choice;
    candidate.selection = std::move(selection);
    candidate.name = std::move(name);
    candidates.push_back(std::move(candidate));
    predicted_s.push_back(seconds);
  };
  const double first_s = decision.candidates.empty() ? 0 : decision.candidates.front().seconds;
  add(&unlearned, {}, decision.selection->text(), first_s);
  if (!rounds(facts)) add(mpi::intern(facts.collective, "native"), {}, "native", 0);
  std::vector<const Algorithm*> tried{decision.selection->algorithm};
  for (const Candidate& candidate : decision.candidates) {
    if (candidates.size() >= most_tried + 2 || candidate.seconds > hopeless * first_s) break;
    if (std::find(tried.begin(), tried.end(), candidate.selection.algorithm) != tried.end()) continue;
    tried.push_back(candidate.selection.algorithm);
    // The number of segments is found anew for each size of the group.
    Selection open = candidate.selection;
    open.params.erase("segments");
    add(choice_of(open), open, open.text(), candidate.seconds);
  }
  return {.candidates = std::move(candidates), .group = learn::Group(std::move(predicted_s))};
}

LearnedCalls::Known Learner::learn_about(const mpi::Call& call, const mpi::InternedChoice& unlearned,
                                         const mpi::CommState& state, LearnedCalls& calls) {
  const mpi::CallerBuffers buffers(call, state.rank(), state.size());
  if (buffers.erroneous() || !buffers.unsupported().empty()) return {};
  const CallFacts facts = prepare::facts_of(buffers.signature(unlearned), state.placement());
  const Decision decision = policy_.decide(facts);
  if (!decision.selection) return {};
  KindOfCalls kind{.collective = facts.collective,
                   .size_class = size_class(facts.bytes),
                   .op = (facts.op.commutative ? 1U : 0U) | (facts.op.idempotent ? 2U : 0U) |
                         (facts.exact_op ? 4U : 0U) | (facts.predefined_op ? 8U : 0U)};
  if (rounds(facts)) {
    const std::optional<BitClass> bits = bits_of(*decision.selection, facts, call.root, options_);
    if (!bits) return {};
    kind.bits = bits->low;
  }
  auto known = calls.groups().find(kind);
  if (known == calls.groups().end()) {
    known = calls.groups().emplace(kind, group_of(facts, decision, unlearned)).first;
  }
  LearnedGroup& group = known->second;
  return {.group = &group, .allowed = allowed_of(group, facts, call.root, decision, options_)};
}

Learner::Found Learner::find(const mpi::Call& call, const mpi::InternedChoice& unlearned) {
  if (unlearned.policy != &policy_ || is_irregular(call.collective)) return {};
  mpi::CommState* state = mpi::CommState::last_used(call.comm);
  if (state == nullptr) state = mpi::find_communicator(call, unlearned).state;
  if (state == nullptr || !state->usable() || state->size() == 1 || !state->has_carrier()) return {};
  LearnedCalls& calls = state->attached<LearnedCalls>();
  const mpi::CallShape shape(call);
  if (const LearnedCalls::Known* known = calls.find(shape)) return {.calls = &calls, .known = *known};
  const LearnedCalls::Known known = learn_about(call, unlearned, *state, calls);
  if (known.group == nullptr) return {};
  // The handles of a program's own types and operators may mean something else later.
  if (mpi::CallerBuffers(call, state->rank(), state->size()).has_lasting_handles()) calls.remember(shape, known);
  return {.calls = &calls, .known = known};
}

Learner::Turn Learner::turn(const mpi::Call& call, const mpi::InternedChoice& unlearned) {
  const Found found = find(call, unlearned);
  if (found.known.group == nullptr) return {.choice = &unlearned};
  LearnedGroup& group = *found.known.group;
  const learn::Group::Turn turn = group.group.next(found.calls->account());
  const bool allowed = (found.known.allowed >> turn.candidate & 1U) != 0;
  return {.choice = allowed ? group.candidates[turn.candidate].choice : &unlearned,
          .calls = found.calls,
          .group = &group,
          .timed = turn.timed};
}

const mpi::InternedChoice& Learner::best(const mpi::Call& call, const mpi::InternedChoice& unlearned) {
  const Found found = find(call, unlearned);
  if (found.known.group == nullptr) return unlearned;
  const std::size_t best = found.known.group->group.best();
  return (found.known.allowed >> best & 1U) != 0 ? *found.known.group->candidates[best].choice : unlearned;
}

int Learner::ended(const Turn& turn, const mpi::Call& call, double seconds, int error) {
  learn::Group& group = turn.group->group;
  if (turn.timed) group.took(seconds);
  if (!group.agreement_due()) return MPI_SUCCESS;
  // An error handler may have freed the communicator, and with it what was learned.
  if (error != MPI_SUCCESS && mpi::CommState::last_used(call.comm) == nullptr) return MPI_SUCCESS;
  std::vector<double> greatest(group.local().begin(), group.local().end());
  greatest.push_back(turn.calls->last_agreement_s);
  const double begin_s = PMPI_Wtime();
  const int rc =
      PMPI_Allreduce(MPI_IN_PLACE, greatest.data(), static_cast<int>(greatest.size()), MPI_DOUBLE, MPI_MAX, call.comm);
  if (rc != MPI_SUCCESS) return rc;
  turn.calls->last_agreement_s = PMPI_Wtime() - begin_s;
  const double agreement_s = greatest.back();
  greatest.pop_back();
  group.agreed(greatest, agreement_s, turn.calls->account());
  return MPI_SUCCESS;
}

}  // namespace circoll::interpose
