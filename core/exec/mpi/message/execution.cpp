#include "exec/mpi/message/execution.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <new>

#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/comm/long_waits.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/failures.hpp"
#include "exec/mpi/message/combine.hpp"

namespace circoll::mpi {
namespace {

/// Numbers of polls in a row without news after which an execution does something else.
struct Pace {
  std::uint64_t yield;  ///< the processor is offered to others, and from then on
  std::uint64_t again;  ///< after each so many polls
  std::uint64_t mpi;    ///< MPI is asked for news
};

/// Ranks that outnumber the cores take turns. Some polls find a message that a rank on another core has just sent.
/// Where each rank has a core, a yield costs some twenty polls, and comes too early if the other rank is only a little
/// late.
constexpr Pace crowded{.yield = 8, .again = 1, .mpi = 16};
constexpr Pace alone{.yield = 4096, .again = 256, .mpi = 64};
/// The same for the in-order fast path. A rank that has got its turn mostly finds at once what it waits for.
constexpr InOrderPath::LookLimits crowded_patience{.now = 4, .in_all = 64, .blocking = true};
constexpr InOrderPath::LookLimits alone_patience{.now = 16, .in_all = 64, .blocking = true};
/// Polls after which a rank asks MPI whether the communicator is revoked or a process has failed: some ten
/// microseconds.
constexpr std::uint64_t polls_before_asking = 256;
/// Polls after which a wait is noted: some milliseconds where ranks take turns.
constexpr std::uint64_t polls_before_noting = 4096;
/// Polls after which a rank looks for ranks that have ended: a second or less.
constexpr std::uint64_t polls_before_looking = std::uint64_t{1} << 20U;

/// The least time from one question to the next. The time grows to an eighth of the time waited.
constexpr std::chrono::seconds least_interval{1};

}  // namespace

Execution::Execution(const Plan& plan, const MessageTable& messages)
    : plan_(&plan), engine_(plan), mpi_(plan, messages), in_order_(plan) {}

void Execution::start(const Binding& binding) {
  binding_ = &binding;
  error_ = MPI_SUCCESS;
  idle_ = 0;
  mpi_.start(binding);
  if (binding_->route.node_peers != nullptr && others_.empty()) {
    auto channel = std::make_unique<NodeChannel>(*plan_);
    node_ = channel.get();
    add_channel(std::move(channel));
  }
  if (node_ != nullptr && others_.size() == 1) {
    node_->start(binding);
  } else {
    for (const auto& channel : others_) channel->start(binding);
  }
  if (may_go_straight()) {
    way_ = Way::straight;
    engine_.hold();
    in_order_.start();
    (void)go_in_order({});
  } else {
    way_ = Way::engine;
    engine_.start(*this);
  }
}

bool Execution::may_go_straight() {
  const bool by_memory = binding_->route.node_peers != nullptr;
  if (others_.size() != (by_memory ? 1U : 0U) || (by_memory && node_ == nullptr)) return false;
  const std::uint32_t changes = by_memory ? node_->changes() : 0;
  if (changes != straight_for_) {
    in_order_.set_ends(by_memory ? node_ : nullptr);
    straight_for_ = changes;
  }
  return in_order_.serves(*binding_);
}

bool Execution::go_in_order(InOrderPath::LookLimits patience) {
  const auto local = [this](StepIndex step) {
    error_ = combine(*plan_, plan_->steps[step], *binding_);
    return error_ == MPI_SUCCESS;
  };
  switch (in_order_.run(*binding_, patience, local)) {
    case InOrderPath::State::waiting:
      return false;
    case InOrderPath::State::over:
      way_ = Way::ended;
      if (error_ == MPI_SUCCESS) engine_.end();
      return true;
    case InOrderPath::State::stuck:
      break;
  }
  way_ = Way::engine;
  engine_.start_after(*this, [this](const auto& ended) { in_order_.for_each_ended(ended); });
  return true;
}

int Execution::failure_of_others() const {
  for (const auto& channel : others_) {
    if (channel->error() != MPI_SUCCESS) return channel->error();
  }
  return MPI_SUCCESS;
}

int Execution::truncation() const {
  for (const auto& channel : others_) {
    if (channel->truncation() != MPI_SUCCESS) return channel->truncation();
  }
  return mpi_.truncation();
}

int Execution::error() const {
  if (!failed()) return truncation();
  if (error_ != MPI_SUCCESS) return error_;
  return mpi_.error() != MPI_SUCCESS ? mpi_.error() : failure_of_others();
}

bool Execution::advance(bool inside_mpi) {
  if (failed()) {
    abandon();
    return true;
  }
  if (engine_.done()) return true;
  news_ = false;
  if (way_ == Way::straight) return go_in_order({}) && (failed() || engine_.done());
  collect(inside_mpi && others_.empty() ? mpi_.wait() : mpi_.poll());
  news_ = news_ || mpi_.moved();
  if (node_ != nullptr) {
    collect(node_->poll());
  } else {
    for (const auto& channel : others_) collect(channel->poll());
  }
  if (failed()) {
    abandon();
    return true;
  }
  return engine_.done();
}

int Execution::wait() {
  const Interruption* const news = binding_->route.interruption;
  if (way_ == Way::straight) {
    const bool yields = binding_->route.node_peers->crowded();
    const InOrderPath::LookLimits patience = yields ? crowded_patience : alone_patience;
    while (!go_in_order(patience)) {
      if (news != nullptr && news->there()) return interrupted;
      if (yields) sched_yield();
    }
  }
  if (way_ == Way::ended) return error_;
  while (!advance(library::waits_inside_mpi)) {
    if (news != nullptr && news->there()) return interrupted;
    idle_ = news_ ? 0 : idle_ + 1;
    if (idle_ > 0) wait_a_little(idle_);
  }
  return error();
}

void Execution::wait_a_little(std::uint64_t idle) {
  const NodePeers* const node_peers = binding_->route.node_peers;
  if (library::tells_failures && idle % polls_before_asking == 0 && binding_->route.asked != MPI_COMM_NULL)
    error_ = library::failure_of(binding_->route.asked);
  const Pace& pace = node_peers == nullptr || node_peers->crowded() ? crowded : alone;
  // A second turn given away after each poll would let every message wait for two.
  const bool has_yielded = mpi_.active() && yields_while_idle();
  if (!has_yielded && idle >= pace.yield && idle % pace.again == 0) sched_yield();
  if (idle % Stall::polls == 0) look_for_stall();
  if (idle % polls_before_noting == 0) note_wait();
  if (node_peers == nullptr) return;
  // Only calls of MPI serve what other ranks want of this rank, such as one-sided accesses, and our nonblocking
  // operations. The probe never finds a message, because no rank sends itself one here.
  if (!mpi_.active() && idle % pace.mpi == 0) {
    int found = 0;
    (void)PMPI_Iprobe(node_peers->rank(), 0, binding_->route.comm, &found, MPI_STATUS_IGNORE);
  }
  if (idle % polls_before_looking == 0) {
    for (const auto& channel : others_) channel->look_for_peers();
  }
}

void Execution::look_for_stall() {
  if (binding_->route.stalls_on == nullptr || binding_->call_number == 0 || !stalls().watches()) return;
  const auto awaited = [this] {
    std::vector<Rank> peers;
    for (const StepIndex step : awaited_steps()) peers.push_back(plan_->steps[step].peer);
    return peers;
  };
  if (const int rc = stall_.look(*binding_, idle_ == Stall::polls, awaited); rc != MPI_SUCCESS) error_ = rc;
}

std::vector<StepIndex> Execution::awaited_steps() const {
  std::vector<StepIndex> steps;
  mpi_.add_awaited(steps);
  for (const auto& channel : others_) channel->add_awaited(steps);
  return steps;
}

void Execution::note_wait() const noexcept {
  const NoteWait note = long_waits().load(std::memory_order_relaxed);
  if (note == nullptr) return;
  try {
    // Messages that are received say more than those that nobody takes.
    std::vector<StepIndex> steps = awaited_steps();
    const auto comes = [this](StepIndex step) { return plan_->steps[step].kind != StepKind::send; };
    std::stable_partition(steps.begin(), steps.end(), comes);  // clang 14 cannot compile that of std::ranges
    if (steps.empty()) return;
    std::vector<Rank> peers;
    for (const StepIndex step : steps) {
      const Rank peer = plan_->steps[step].peer;
      if (std::ranges::find(peers, peer) == peers.end()) peers.push_back(peer);
    }
    note(peers, plan_->steps[steps.front()].tag + 1);
  } catch (const std::bad_alloc&) {
    return;
  }
}

void Execution::collect(std::span<const StepIndex> ended) {
  if (ended.empty()) return;
  news_ = true;
  for (const StepIndex step : ended) engine_.completed(*this, step);
}

bool Execution::begin(StepIndex step) {
  if (failed()) return true;  // nothing new is started after an error
  const PlanStep& s = plan_->steps[step];
  if (!is_message(s.kind)) {
    error_ = combine(*plan_, s, *binding_);
    return true;
  }
  if (node_ != nullptr && binding_->route.node_peers != nullptr) {
    return node_->serves(step) ? node_->begin(step) : mpi_.begin(step);
  }
  const std::size_t channel = binding_->route.channel_of(s.peer);
  return channel == 0 ? mpi_.begin(step) : others_[channel - 1]->begin(step);
}

Halt Execution::halt(const IsDead& is_dead) {
  const std::size_t steps = plan_->steps.size();
  Halt halt{.ended = std::vector<bool>(steps, way_ == Way::ended), .torn = std::vector<bool>(steps, false)};
  if (way_ == Way::straight) in_order_.for_each_ended([&](StepIndex step) { halt.ended[step] = true; });
  if (way_ == Way::engine) {
    for (StepIndex step = 0; step < steps; ++step) halt.ended[step] = engine_.has_begun(step);
    mpi_.halt(halt, is_dead);
    for (const auto& channel : others_) channel->halt(halt, is_dead);
  }
  return halt;
}

void Execution::abandon() noexcept {
  mpi_.abandon();
  for (const auto& channel : others_) channel->abandon();
}

std::size_t Execution::memory_bytes() const {
  return sizeof(Execution) + plan_->steps.size() * 2 * sizeof(std::uint32_t) + mpi_.memory_bytes() +
         in_order_.memory_bytes();
}

int Stall::look(const Binding& binding, bool first, const std::function<std::vector<Rank>()>& awaited) noexcept {
  const Stalls::Clock::time_point now = Stalls::Clock::now();
  if (first) {
    since_ = now;
    next_question_ = now + stalls().patience();
    suspect_ = {};
    questions_before_ = stalls().questions();
    return MPI_SUCCESS;
  }
  stalls().serve();
  // Where calls are not counted any more, only an answer from a peer in MPI_Finalize is certain.
  const std::uint64_t number = binding.route.stalls_on->made_calls().counts() ? binding.call_number : 0;
  try {
    for (const StallAnswer& answer : stalls().take_answers(binding.route, number)) {
      if (const int rc = judge(binding, answer); rc != MPI_SUCCESS) return rc;
    }
    if (now < next_question_) return MPI_SUCCESS;
    next_question_ = now + std::max<Stalls::Clock::duration>(least_interval, (now - since_) / 8);
    std::vector<Rank> peers = awaited();
    std::sort(peers.begin(), peers.end());
    peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
    for (const Rank peer : peers) stalls().ask(binding.route, peer, number, binding.call);
  } catch (const std::bad_alloc&) {
    return MPI_SUCCESS;  // it is looked at again
  }
  return MPI_SUCCESS;
}

int Stall::judge(const Binding& binding, const StallAnswer& answer) {
  // An answer to an earlier wait may be about another call.
  if (answer.verdict == StallVerdict::unknown || answer.question <= questions_before_) return MPI_SUCCESS;
  // The last message of the peer may still be on its way. Another such answer, a second later and without news, is
  // certain.
  const bool again = suspect_.verdict != StallVerdict::unknown && suspect_.source == answer.source &&
                     answer.question > suspect_.question;
  if (again) return conclude(binding, answer);
  if (suspect_.verdict == StallVerdict::unknown) suspect_ = answer;
  return MPI_SUCCESS;
}

int Stall::conclude(const Binding& binding, const StallAnswer& answer) {
  const CommState& state = *binding.route.stalls_on;
  Stalled stalled{.comm = state.user_comm(),
                  .number = binding.call_number,
                  .rank = state.rank(),
                  .call = binding.call,
                  .answer = answer};
  for (Rank r = 0; r < state.size(); ++r) {
    stalled.world_ranks.push_back(state.world_rank(r));
    if (state.world_rank(r) == answer.source) stalled.peer = r;
  }
  stalled.seconds =
      static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(Stalls::Clock::now() - since_).count());
  return stalls().conclude(stalled);
}

}  // namespace circoll::mpi
