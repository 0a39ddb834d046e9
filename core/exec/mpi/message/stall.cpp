#include "exec/mpi/message/stall.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "exec/mpi/comm/communicator.hpp"

namespace circoll::mpi {
namespace {

/// The least time from one question to the next. It grows to an eighth of the time waited.
constexpr std::chrono::seconds least_interval{1};

}  // namespace

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
  // Where calls are not counted any more, only a peer in MPI_Finalize is certain.
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
  // What the peer sent last may still be on its way. Another answer, a second later and without news, is certain.
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
