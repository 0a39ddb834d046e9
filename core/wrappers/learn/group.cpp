#include "wrappers/learn/group.hpp"

#include "circoll/error.hpp"
#include "facts/median.hpp"

namespace circoll::learn {
namespace {

constexpr std::int64_t quiet_calls = 8;  ///< that nothing is tried in
constexpr std::int64_t samples = 4;      ///< the last of these, and those of a look
constexpr int first_leg = 4;             ///< calls of each
constexpr int second_leg_half = 6;       ///< twice, in turn
/// A challenger that is so much slower in the first leg is dropped.
constexpr double hopeless = 1.25;
/// A challenger must be faster by so much. A smaller gain is not worth a change.
constexpr double better = 0.97;
/// A winner that takes so much longer than it did is compared anew.
constexpr double slower = 1.5;
constexpr std::int64_t first_look = 4096, last_look = std::int64_t{1} << 20U;
/// The expected time of an unknown candidate, relative to the best.
constexpr double unknown = 1.5;

}  // namespace

Group::Group(std::vector<Candidate> candidates, std::optional<std::size_t> known)
    : candidates_(std::move(candidates)),
      tried_(candidates_.size()),
      known_before_(known.has_value()),
      best_(known.value_or(0)) {
  require(best_ < candidates_.size(), "the best of a group of calls is one of its candidates");
}

Group::Turn Group::next(Account& account) {
  ++calls_;
  switch (phase_) {
    case Phase::quiet: {
      const bool timed = candidates_.size() > 1 && calls_ > quiet_calls - samples;
      due_ = timed && calls_ == quiet_calls;
      return {.candidate = best_, .timed = timed};
    }
    case Phase::between:
      served(1, account);
      if (const double price = price_s(account); spent_s_ + price > account.limits().most_s) {
        settle();
        return {.candidate = best_};
      } else if (!account.affords(price)) {
        return {.candidate = best_};
      }
      reserved_s_ = price_s(account);
      account.reserve(reserved_s_);
      begin_duel(false);
      return turn_of_duel();
    case Phase::duel:
      account.earn(best_s_);
      return turn_of_duel();
    case Phase::settled:
      break;
  }
  served(1, account);
  ++since_look_;
  const bool timed = since_look_ > look_after_ - samples;
  due_ = since_look_ == look_after_;
  return {.candidate = best_, .timed = timed};
}

Group::Turn Group::turn_of_duel() {
  const bool challengers = turns_[place_] != 0;
  due_ = ++place_ == turns_.size();
  return {.candidate = challengers ? challenger_ : best_, .timed = true};
}

int Group::quiet() const {
  constexpr int most = 64;
  // The account may be able to pay soon.
  constexpr int between = 8;
  if (candidates_.size() == 1) return most;
  if (phase_ == Phase::between) return between;
  if (phase_ != Phase::settled) return 0;
  return static_cast<int>(std::clamp(look_after_ - samples - since_look_, std::int64_t{0}, std::int64_t{most}));
}

double Group::expected_s(std::size_t candidate) const {
  if (tried_[candidate].rival_s > 0) return best_s_ * tried_[candidate].median_s / tried_[candidate].rival_s;
  if (candidates_[candidate].predicted_s > 0 && candidates_[best_].predicted_s > 0) {
    return best_s_ * candidates_[candidate].predicted_s / candidates_[best_].predicted_s;
  }
  return best_s_ * unknown;
}

double Group::price_s(const Account& account) const {
  constexpr int calls = first_leg + 2 * second_leg_half;
  return (candidates_[challenger_].prepared ? 0 : account.preparation_s()) +
         calls * std::max(0.0, expected_s(challenger_) - best_s_) + 2 * last_agreement_s_;
}

void Group::settle() {
  phase_ = Phase::settled;
  since_look_ = 0;
  look_after_ = std::clamp(look_after_ * 2, first_look, last_look);
}

void Group::begin_duel(bool second_leg) {
  phase_ = Phase::duel;
  second_leg_ = second_leg;
  place_ = 0;
  turns_.clear();
  if (second_leg) {
    for (const int challengers : {0, 1, 0, 1}) {
      turns_.insert(turns_.end(), second_leg_half, static_cast<std::uint8_t>(challengers));
    }
    return;
  }
  turns_.insert(turns_.end(), first_leg, 0);
  turns_.insert(turns_.end(), first_leg + 1, 1);  // in the first of them it is prepared
}

void Group::agreed(std::span<const double> greatest_s, double agreement_s, Account& account) {
  require(due_ && greatest_s.size() == local_.size(), "an agreement that is not due");
  due_ = false;
  local_.clear();
  last_agreement_s_ = agreement_s;
  account.spend(agreement_s);
  spent_s_ += agreement_s;
  if (phase_ == Phase::duel) {
    end_duel(greatest_s, account);
    return;
  }
  const double now_s = median({greatest_s.begin(), greatest_s.end()});
  if (phase_ == Phase::settled) {
    look_again(now_s);
    return;
  }
  best_s_ = now_s;
  account.earn(now_s * static_cast<double>(calls_));
  ++searches_;
  next_challenger();
}

void Group::end_duel(std::span<const double> greatest_s, Account& account) {
  std::vector<double> own, others;
  for (std::size_t i = 0; i < turns_.size(); ++i) (turns_[i] == 0 ? own : others).push_back(greatest_s[i]);
  Tried& tried = tried_[challenger_];
  tried.calls += static_cast<std::int64_t>(others.size());
  best_s_ = median(own);
  double extra_s = 0;
  if (!second_leg_) {
    extra_s += others.front() - best_s_;
    if (!candidates_[challenger_].prepared) account.prepared(extra_s);
    others.erase(others.begin());
  }
  tried.median_s = median(others);
  tried.rival_s = best_s_;
  // Delays that hold up a call now and then have nothing to do with the algorithm.
  for (const double one_s : others) extra_s += std::min(one_s, 2 * tried.median_s) - best_s_;
  account.spend(extra_s);
  spent_s_ += std::max(extra_s, 0.0);
  tried.dropped = !second_leg_ && tried.median_s > hopeless * best_s_;
  if (!second_leg_ && !tried.dropped) {
    begin_duel(true);
    return;
  }
  account.release(reserved_s_);
  if (tried.median_s < better * best_s_) {
    best_ = challenger_;
    best_s_ = tried.median_s;
    gain_ = best_ == 0 ? 1 : gain_ * tried.rival_s / tried.median_s;
  } else if (challenger_ == 0) {
    gain_ = std::max(1.0, tried.median_s / tried.rival_s);
  }
  next_challenger();
}

void Group::next_challenger() {
  if (known_before_ && (phase_ == Phase::duel || best_ == 0)) {
    known_before_ = false;
    const bool confirmed = phase_ != Phase::duel || best_ != 0;
    if (confirmed) {
      settle();
      return;
    }
  }
  // Goes once round the candidates from the first on. The one that has become the best meanwhile has had its duel.
  const std::size_t from = phase_ == Phase::duel ? challenger_ + 1 : 0;
  challenger_ = from == best_ ? from + 1 : from;
  if (challenger_ < candidates_.size()) {
    phase_ = Phase::between;
    return;
  }
  settle();
}

void Group::look_again(double now_s) {
  if (now_s <= slower * best_s_) {
    best_s_ = std::min(best_s_, now_s);
    settle();
    return;
  }
  best_s_ = now_s;
  ++searches_;
  next_challenger();
}

}  // namespace circoll::learn
