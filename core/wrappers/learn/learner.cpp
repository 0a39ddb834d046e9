#include "wrappers/learn/learner.hpp"

#include <mpi.h>

#include <algorithm>

#include "circoll/collectives.hpp"
#include "exec/mpi/call/caller_buffers.hpp"
#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/library/failures.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "interpose/ledger.hpp"
#include "prepare/level_labels.hpp"
#include "prepare/prepared_call.hpp"
#include "schedule/registry.hpp"
#include "verify/bits.hpp"

namespace circoll::interpose {
namespace {

/// The number of algorithms that are tried beside the model's choice and the library's own. They are that of the policy
/// `classic`, an exchange through nodes, and the next ones in the model's ranking.
constexpr std::size_t most_tried = 4;
/// An algorithm is not tried if the model predicts that it is slower by so much.
constexpr double hopeless = 2;

/// Vectors of so many bytes take much longer than an agreement, across a network and inside a node.
constexpr Count much_on_network = 8 << 10, much_on_node = 1 << 20;

/// Between nodes, calls with blocks of so many bytes are native at first. The search for algorithms takes longer than
/// some of them.
constexpr Count short_block = 1 << 10;

bool rounds(const CallFacts& facts) { return is_reducing(facts.collective) && !facts.exact_op; }

/// Up to this p the model compares ways through nodes for an exchange whose sizes no rank knows.
constexpr Rank most_ranks_through_nodes = 4096;

/// An algorithm that was learned. Nobody has named it, so that labels serve it as they serve a policy's choice.
class LearnedChoice final : public Policy {
 public:
  explicit LearnedChoice(std::unique_ptr<const Policy> fixed) : fixed_(std::move(fixed)) {}
  [[nodiscard]] Decision decide(const CallFacts& facts) const override {
    Decision decision = fixed_->decide(facts);
    decision.named = false;
    return decision;
  }
  [[nodiscard]] const Machine& machine() const override { return fixed_->machine(); }
  [[nodiscard]] bool names_algorithm() const override { return true; }

 private:
  std::unique_ptr<const Policy> fixed_;
};

/// True for an algorithm by which an alltoallv forwards blocks. It stops between its messages until a rank is in MPI
/// again, so that it is for blocking calls. And it copies all of a buffer that is in place.
bool forwards(const LearnedCandidate& candidate) {
  return candidate.selection.algorithm != nullptr && counts_go_first(candidate.selection) &&
         is_exchange(candidate.selection.collective);
}

/// The candidates that may serve a call where nothing rounds.
std::uint32_t all_of(const std::vector<LearnedCandidate>& candidates, const mpi::Call& call) {
  std::uint32_t all = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (call.sendbuf != MPI_IN_PLACE || !forwards(candidates[i])) all |= std::uint32_t{1} << i;
  }
  return all;
}

/// The candidates that may serve a call without changing a bit of its result.
std::uint32_t allowed_of(const std::vector<LearnedCandidate>& candidates, const CallFacts& facts, const mpi::Call& call,
                         const Decision& decision, const PolicyOptions& options, KnownBits& bits) {
  if (!rounds(facts)) return all_of(candidates, call);
  const int root = call.root;
  const std::optional<BitClass> wanted = bits.of(*decision.selection, facts, root, options);
  std::uint32_t allowed = 1;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (candidates[i].selection.algorithm == nullptr) {
      // Between two ranks the library can only add one to the other, and a + b = b + a. Its products may differ from
      // ours: those of complex numbers are sums, too, and compilers contract them.
      if (facts.p == 2 && call.op == MPI_SUM) allowed |= std::uint32_t{1} << i;
      continue;
    }
    const std::optional<BitClass> has = bits.of(candidates[i].selection, facts, root, options);
    if (wanted && has && *wanted == *has) allowed |= std::uint32_t{1} << i;
  }
  return allowed;
}

}  // namespace

const mpi::InternedChoice* Learner::choice_of(const Selection& selection) {
  const std::string text = std::string(to_string(selection.collective)) + '/' + selection.text();
  const std::lock_guard lock(mutex_);
  for (const auto& [name, policy] : policies_) {
    if (name == text) return mpi::intern(selection.collective, *policy);
  }
  policies_.emplace_back(text, std::make_unique<LearnedChoice>(make_fixed_policy(selection, options_)));
  return mpi::intern(selection.collective, *policies_.back().second);
}

std::optional<std::size_t> Learner::known_best(const LearnedKey& key, std::vector<LearnedCandidate>& candidates) {
  const auto known = known_.rows.find(key);
  if (known == known_.rows.end()) return std::nullopt;
  const std::string& use = known->second.use;
  if (use == "auto") return 0;
  const auto same = std::find_if(candidates.begin() + 1, candidates.end(),
                                 [&](const LearnedCandidate& candidate) { return candidate.name == use; });
  if (same == candidates.end()) {
    if (use == "native") return std::nullopt;  // not among them where sums round
    Selection selection = parse_selection(key.collective, use);
    const mpi::InternedChoice* const choice = choice_of(selection);
    candidates.push_back({.choice = choice, .selection = std::move(selection), .name = use});
    return candidates.size() - 1;
  }
  return static_cast<std::size_t>(same - candidates.begin());
}

std::optional<Selection> Learner::through_nodes(CallFacts facts) const {
  if (facts.collective != Collective::alltoallv || facts.p > most_ranks_through_nodes) return std::nullopt;
  constexpr Count block = 64;  // short ones, as those that gain
  facts.collective = Collective::alltoall;
  facts.bytes = block * facts.p;
  const Decision decision = model_->decide(facts);
  for (const Candidate& one : decision.candidates) {
    if (one.selection.algorithm->guarantees.direct) break;
    if (one.selection.algorithm->name != "node_aware") continue;
    // With a radix, blocks would pass through several nodes, which would hold more than their own.
    Selection through{
        .algorithm = one.selection.algorithm, .collective = Collective::alltoallv, .params = one.selection.params};
    through.params.erase("radix");
    return through;
  }
  return std::nullopt;
}

LearnedGroup Learner::group_of(const CallFacts& facts, const mpi::Call& call, const Decision& decision,
                               const mpi::InternedChoice& unlearned, KnownBits& bits) {
  std::vector<LearnedCandidate> candidates;
  std::vector<learn::Group::Candidate> expected;
  const auto add = [&](const mpi::InternedChoice* choice, Selection selection, std::string name, double seconds) {
    candidates.push_back({.choice = choice, .selection = std::move(selection), .name = std::move(name)});
    expected.push_back({.predicted_s = seconds, .native = choice->kind == mpi::InternedChoice::Kind::native});
  };
  const Decision ranking = decision.candidates.empty() ? model_->decide(facts) : decision;
  const double first_s = ranking.candidates.empty() ? 0 : ranking.candidates.front().seconds;
  const Algorithm* const first = decision.selection ? decision.selection->algorithm : nullptr;
  // A policy of rules may serve calls by another algorithm than the model would have taken.
  const bool by_model =
      first != nullptr && !ranking.candidates.empty() && ranking.candidates.front().selection.algorithm == first;
  add(&unlearned, {}, decision.selection ? decision.selection->text() : "native", by_model ? first_s : 0);
  if ((!rounds(facts) || facts.p == 2) && first != nullptr)
    add(mpi::intern(facts.collective, "native"), {}, "native", 0);
  std::vector<const Algorithm*> tried{first};
  const auto try_too = [&](const Selection& selection, double seconds) {
    if (std::find(tried.begin(), tried.end(), selection.algorithm) != tried.end()) return;
    tried.push_back(selection.algorithm);
    // The number of segments is found anew for each size of the group.
    Selection open = selection;
    open.params.erase("segments");
    add(choice_of(open), open, open.text(), seconds);
  };
  if (const Decision classic = classic_->decide(facts); classic.selection) try_too(*classic.selection, 0);
  if (const std::optional<Selection> through = through_nodes(facts)) try_too(*through, 0);
  for (const Candidate& candidate : ranking.candidates) {
    if (candidates.size() >= most_tried + 2 || candidate.seconds > hopeless * first_s) break;
    try_too(candidate.selection, candidate.seconds);
  }
  LearnedGroup group{.key = {.ranks = facts.p,
                             .nodes = nodes_of(facts),
                             .ranks_per_node = ranks_per_node_of(facts),
                             .collective = facts.collective,
                             .commutative = facts.op.commutative,
                             .exact = facts.exact_op,
                             .idempotent = facts.op.idempotent && facts.op.commutative,
                             .size_class = size_class(facts.bytes)},
                     .candidates = {},
                     .group = learn::Group(std::vector<learn::Group::Candidate>(1))};
  std::optional<std::size_t> known = known_best(group.key, candidates);
  expected.resize(candidates.size());
  // A candidate that the first call of the group may not get is of no use to the others either: they have its bit
  // class.
  const std::uint32_t allowed = allowed_of(candidates, facts, call, decision, options_, bits);
  std::vector<learn::Group::Candidate> expected_of_allowed;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool taken = (allowed >> i & 1U) != 0;
    if (known == i) known = taken ? std::optional(group.candidates.size()) : std::nullopt;
    if (!taken) continue;
    group.candidates.push_back(std::move(candidates[i]));
    expected_of_allowed.push_back(expected[i]);
  }
  const Count bytes = least_bytes(group.key.size_class);
  using Length = learn::Group::Length;
  const Length small = group.key.nodes > 1 ? Length::ordinary : Length::brief;
  const bool much = bytes >= (group.key.nodes > 1 ? much_on_network : much_on_node);
  group.group = learn::Group(std::move(expected_of_allowed), known, much ? Length::much : small);
  return group;
}

std::optional<LearnedCalls::KnownGroup> Learner::learn_about(const mpi::Call& call,
                                                             const mpi::InternedChoice& unlearned, bool has_request,
                                                             const mpi::CommState& state, LearnedCalls& calls) {
  const mpi::CallerBuffers buffers(call, state.rank(), state.size());
  if (buffers.erroneous() || !buffers.unsupported().empty()) return std::nullopt;
  const CallFacts facts = prepare::facts_of(buffers.signature(unlearned), state.placement());
  // The sizes of these are added up in each call, which is little beside a message to another node.
  const bool irregular = is_irregular(facts.collective);
  if (irregular && (rounds(facts) || !spans_nodes(state.placement()))) return std::nullopt;
  // To know that no bit changes takes too long for many ranks.
  if (rounds(facts) && facts.p > KnownBits::most_ranks) return LearnedCalls::KnownGroup{};
  // Where labels serve the calls, bits are others than those of the algorithm alone.
  const Placement& placement = state.placement();
  const bool moves_nodes = placement.levels != nullptr && placement.levels->moves_nodes();
  if (rounds(facts) && (moves_nodes || placement.labels != nullptr)) return LearnedCalls::KnownGroup{};
  KindOfCalls kind{.collective = facts.collective,
                   .size_class = size_class(facts.bytes),
                   .op = (facts.op.commutative ? 1U : 0U) | (facts.op.idempotent ? 2U : 0U) |
                         (facts.exact_op ? 4U : 0U) | (facts.predefined_op ? 8U : 0U)};
  const double bytes = irregular && has_unknown_size(facts.collective) ? static_cast<double>(buffers.own_bytes()) : 0;
  if (!rounds(facts)) {
    if (const auto known = calls.groups().find(kind); known != calls.groups().end()) {
      return LearnedCalls::KnownGroup{
          .group = &known->second, .allowed = all_of(known->second.candidates, call), .bytes = bytes};
    }
  }
  const Rank blocks = has_one_vector(facts.collective) ? 1 : facts.p;
  const bool natively = !irregular && !rounds(facts) && facts.bytes <= short_block * blocks && spans_nodes(placement) &&
                        !policy_.is_tuned_for(facts.collective);
  if (known_.rows.empty() && (natively || (rounds(facts) && facts.p > 2))) {
    int& early = calls.early_calls(kind);
    if (LearnedCalls::is_early(early, !has_request))
      return LearnedCalls::KnownGroup{.early_calls = &early,
                                      .early = natively ? mpi::intern(facts.collective, "native") : nullptr};
  }
  const Decision decision = policy_.decide(facts);
  if (rounds(facts)) {
    // The library's own is in no bit class.
    if (!decision.selection) return LearnedCalls::KnownGroup{};
    kind.bits = calls.bits().of(*decision.selection, facts, call.root, options_)->low;
  }
  auto known = calls.groups().find(kind);
  if (known == calls.groups().end()) {
    known = calls.groups().emplace(kind, group_of(facts, call, decision, unlearned, calls.bits())).first;
  }
  LearnedGroup& group = known->second;
  return LearnedCalls::KnownGroup{
      .group = &group,
      .allowed = allowed_of(group.candidates, facts, call, decision, options_, calls.bits()),
      .bytes = bytes};
}

Learner::Found Learner::find(const mpi::Call& call, const mpi::InternedChoice& unlearned, bool has_request) {
  if (unlearned.policy != &policy_) return {};
  mpi::CommState* state = mpi::CommState::last_used(call.comm);
  // The first calls on a communicator may be native whatever is chosen.
  const bool waits = call.comm != MPI_COMM_WORLD && mpi::globals().serve_after > 0;
  if (state == nullptr || waits) {
    const mpi::FoundCommunicator found = mpi::find_communicator(call, unlearned, has_request);
    if (!found.native_reason.empty()) return {};
    state = found.state;
  }
  if (state == nullptr || !state->usable() || state->size() == 1 || !state->has_carrier()) return {};
  if (learns_ == Learns::across_nodes && !spans_nodes(state->placement())) return {};
  LearnedCalls& calls = state->attached<LearnedCalls>();
  calls.belongs_to(everywhere_, state->rank());
  std::optional<mpi::CallShape> shape;
  if (!is_irregular(call.collective)) {
    shape.emplace(call, state->rank(), state->size());
    const auto* const before = calls.find(*shape);
    const bool was_early = before != nullptr && before->early_calls != nullptr;
    if (before != nullptr && (!was_early || LearnedCalls::is_early(*before->early_calls, !has_request)))
      return {.calls = &calls, .known = *before};
  }
  const std::optional<LearnedCalls::KnownGroup> known = learn_about(call, unlearned, has_request, *state, calls);
  if (!known) return {};
  // The handles of a program's own types and operators may mean something else later, and arrays have other counts.
  if (shape && mpi::CallerBuffers(call, state->rank(), state->size()).has_lasting_handles())
    calls.remember(*shape, *known);
  return {.calls = &calls, .known = *known};
}

Learner::Turn Learner::turn(const mpi::Call& call, const mpi::InternedChoice& unlearned) {
  const Found found = find(call, unlearned, false);
  if (found.known.early != nullptr) return {.choice = found.known.early};
  if (found.known.group == nullptr || found.calls == nullptr) return {.choice = &unlearned};
  LearnedGroup& group = *found.known.group;
  if (group.passing > 0) {
    --group.passing;
    return {.choice = (found.known.allowed & group.now_bit) != 0 ? group.now : &unlearned};
  }
  learn::Account& account = found.calls->account();
  group.group.passed_over(std::exchange(group.granted, 0), account);
  const int error = found.calls->begin_agreement(group.group, call.comm);
  const learn::Group::Turn turn = group.group.next(account);
  if (!turn.timed) {
    group.granted = group.passing = group.group.quiet();
    group.now = group.candidates[group.group.best()].choice;
    group.now_bit = std::uint32_t{1} << group.group.best();
  }
  const bool allowed = (found.known.allowed >> turn.candidate & 1U) != 0;
  return {.choice = allowed ? group.candidates[turn.candidate].choice : &unlearned,
          .calls = found.calls,
          .group = &group,
          .bytes = found.known.bytes,
          .timed = turn.timed,
          .error = error};
}

const mpi::InternedChoice& Learner::best(const mpi::Call& call, const mpi::InternedChoice& unlearned) {
  const Found found = find(call, unlearned, true);
  if (found.known.group == nullptr) return unlearned;
  const std::size_t best = found.known.group->group.best();
  if ((found.known.allowed >> best & 1U) == 0) return unlearned;
  // The time of a blocking native call says nothing about the library's nonblocking and persistent ones. They are other
  // code, and in MPICH 4.0 they are at fault.
  const LearnedCandidate& winner = found.known.group->candidates[best];
  const bool blocking_only = winner.choice->kind == mpi::InternedChoice::Kind::native || forwards(winner);
  return blocking_only ? unlearned : *winner.choice;
}

int Learner::ended(const Turn& turn, const mpi::Call& call, double seconds, int error) {
  if (turn.timed) turn.group->group.took(seconds, turn.bytes);
  if (mpi::library::is_failure(error)) return MPI_SUCCESS;
  // An error handler may have freed the communicator, and with it the results of learning.
  if (error != MPI_SUCCESS && mpi::CommState::last_used(call.comm) == nullptr) return MPI_SUCCESS;
  return turn.calls->end_agreement(turn.group->group, call.comm);
}

}  // namespace circoll::interpose
