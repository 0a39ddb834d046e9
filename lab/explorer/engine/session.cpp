// The schedules of a session, matched, executed round by round, and proven.
#include "session.hpp"

#include <utility>

namespace circoll::explorer {

using symbolic::Refuted;

Session::Session(std::vector<Schedule> ranks, Origin origin, std::vector<Dependencies> dependencies)
    : ranks_(std::move(ranks)), origin_(std::move(origin)), given_(std::move(dependencies)), dependencies_(given_) {
  if (dependencies_.empty()) {
    for (const Schedule& schedule : ranks_) dependencies_.push_back(derive_dependencies(schedule));
  }
  try {
    matching_.emplace(ranks_);
  } catch (const Unmatched& end) {
    unmatched_ = Refuted{Claim::matching, end.rank, end.step, end.block, end.what};
  }
  restart();
}

StepOfRank Session::other_end(StepOfRank end) const { return matching_ ? matching_->of(end) : StepOfRank{}; }

void Session::restart() {
  played_ = -1;
  stopped_ = unmatched_;
  if (!matching_) return;
  const bool at_least_once = origin_.claims.needs.idempotent || first().collective == Collective::barrier;
  execution_ = std::make_unique<symbolic::SymbolicExecution>(ranks_, *matching_, dependencies_, at_least_once);
  play_to(0);
}

void Session::play_to(std::uint32_t k) {
  if (!execution_) return;
  if (k < played_) restart();
  try {
    // Every round is played by itself. Otherwise steps that wait and are looked at again would run in another order.
    for (std::int64_t now = played_ + 1; !stopped_ && now <= k; ++now) {
      played_ = now;
      execution_->run_while([&](StepOfRank s) {
        const Step& step = of(s.rank).steps[s.step];
        return !is_message(step) || step.round < now;
      });
    }
  } catch (const Refuted& refuted) {
    stopped_ = refuted;
  }
}

bool Session::is_new(symbolic::Value value) {
  if (value >= told_.size()) told_.resize(value + 1);
  const bool is_new = !told_[value];
  told_[value] = true;
  return is_new;
}

const Verdict& Session::verdict() {
  if (!verdict_) {
    verdict_ = origin_.selection && given_.empty()
                   ? verify_algorithm(*origin_.selection->algorithm, origin_.selection->collective, origin_.shape)
                   : verify_schedules(ranks_, origin_.claims, given_);
  }
  return *verdict_;
}

}  // namespace circoll::explorer
