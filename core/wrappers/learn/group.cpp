#include "wrappers/learn/group.hpp"

#include <algorithm>
#include <utility>

#include "circoll/error.hpp"
#include "facts/median.hpp"

namespace circoll::learn {
namespace {

constexpr std::int64_t quiet_calls = 8;  ///< that nothing is tried in, where there is no opening
constexpr std::int64_t samples = 4;      ///< the last of these, and those of a look
/// A winner that takes so much longer than it did is compared anew.
constexpr double slower = 1.5;
constexpr std::int64_t first_look = 512, last_look = std::int64_t{1} << 20U;
/// The expected time of an unknown candidate, relative to the best.
constexpr double unknown = 1.5;
/// Times that say more may be those of a delay.
constexpr double most_expected = 1.9;
/// A preparation that takes longer has been delayed.
constexpr double most_preparation_s = 500e-6;
/// Shorter calls are brief.
constexpr double brief_s = 100e-6;
/// Sizes that differ by a greater factor are unlike.
constexpr double like = 1.25;
/// After so many pairs of calls of unlike sizes nothing is learned any more.
constexpr int most_unlike = 5;
/// An agreement that takes a smaller part of a call is cheap.
constexpr double cheap = 0.05;

bool are_like(double a_bytes, double b_bytes) {
  return std::max(a_bytes, b_bytes) <= like * std::min(a_bytes, b_bytes);
}

}  // namespace

Group::Group(std::vector<Candidate> candidates, std::optional<std::size_t> known, Length length)
    : candidates_(std::move(candidates)),
      tried_(candidates_.size()),
      met_(candidates_.size()),
      length_(length),
      known_before_(known.has_value()),
      best_(known.value_or(0)) {
  require(best_ < candidates_.size(), "the best of a group of calls is one of its candidates");
  if (best_ != 0) {
    begin_contest(0, Contest::Kind::opening, Account());
  } else if (!known && candidates_.size() > 1 && candidates_[1].native) {
    begin_contest(1, Contest::Kind::opening, Account());
  }
}

Group::Length Group::length(const Account& account) const {
  if (best_s_ == 0 || account.agreement_s() == 0) return length_;
  if (account.agreement_s() <= cheap * best_s_) return Length::much;
  return best_s_ < brief_s ? Length::brief : Length::ordinary;
}

Group::Turn Group::next(Account& account) {
  ++calls_;
  if (candidates_.size() == 1) return {.candidate = best_};
  switch (phase_) {
    case Phase::quiet:
      return sample_of_best(calls_, quiet_calls);
    case Phase::contest:
      return turn_of_contest(account);
    case Phase::settled:
      break;
  }
  served(1, account);
  return sample_of_best(++since_look_, look_after_);
}

Group::Turn Group::sample_of_best(std::int64_t number, std::int64_t last) {
  if (number == last) due_ = true;
  if (number <= last - samples || number > last) return {.candidate = best_};
  timed_.push_back({.candidate = best_, .call = calls_});
  return {.candidate = best_, .timed = true};
}

Group::Turn Group::turn_of_contest(Account& account) {
  if (contest_.challengers_turn()) return timed_turn(challenger_, account);
  // The opening has no choice but to try both. Afterwards each pair must be paid for.
  const bool free = contest_.kind() == Contest::Kind::opening && searches_ == 0;
  if (contest_.at_stop() || calls_ <= rest_until_ || (!free && !affords_pair(price_of_pair(account), account))) {
    served(1, account);
    return {.candidate = best_};
  }
  return timed_turn(incumbent_, account);
}

Group::Turn Group::timed_turn(std::size_t candidate, Account& account) {
  account.earn(best_s_);
  const bool cold = candidate == challenger_ && contest_.begun() == 1 && tried_[candidate].calls == 0;
  double charged = best_s_ > 0 ? std::max(0.0, expected_s(candidate) - best_s_) : 0;
  if (cold && !candidates_[candidate].native && best_s_ > 0) charged += account.preparation_s();
  pay(calls_, charged, account);
  timed_.push_back({.candidate = candidate, .call = calls_, .charged = charged});
  contest_.served();
  if (contest_.at_stop()) due_ = true;
  return {.candidate = candidate, .timed = true};
}

int Group::quiet() const {
  constexpr int most = 64;
  // The account may be able to pay soon. To ask costs a part of a brief call.
  const int waiting = best_s_ < brief_s ? 32 : 4;
  if (candidates_.size() == 1) return most;
  if (due_ || !timed_.empty()) return 0;
  if (phase_ == Phase::contest) return contest_.challengers_turn() || searches_ == 0 ? 0 : waiting;
  if (phase_ != Phase::settled) return 0;
  return static_cast<int>(std::clamp(look_after_ - samples - since_look_, std::int64_t{0}, std::int64_t{most}));
}

double Group::expected_s(std::size_t candidate) const {
  if (candidate == best_) return best_s_;
  const Contest::Side& side = candidate == challenger_ ? contest_.challenger : contest_.incumbent;
  if (!side.samples.empty()) return side.typical_s();
  if (const Tried& tried = tried_[candidate]; tried.rival_s > 0) {
    return best_s_ * std::min(most_expected, tried.median_s / tried.rival_s);
  }
  if (candidates_[candidate].predicted_s > 0 && candidates_[best_].predicted_s > 0) {
    return best_s_ * std::max(1.25, candidates_[candidate].predicted_s / candidates_[best_].predicted_s);
  }
  return best_s_ * unknown;
}

Group::PairPrice Group::price_of_pair(const Account& account) const {
  const bool first = contest_.begun() == 0 && tried_[challenger_].calls == 0;
  return {.calls_s = std::max(0.0, expected_s(incumbent_) - best_s_) + std::max(0.0, expected_s(challenger_) - best_s_),
          .preparation_s = first && !candidates_[challenger_].native ? account.preparation_s() : 0,
          .agreement_s = contest_.before_stop() ? account.agreement_s() : 0};
}

double Group::window_budget_s(const Limits& limits) const {
  return limits.share * std::max(static_cast<double>(limits.window_calls) * best_s_, limits.window_s);
}

bool Group::affords_pair(const PairPrice& price, const Account& account) {
  const Limits& limits = account.limits();
  const double calls = std::max(static_cast<double>(limits.window_calls), limits.window_s / std::max(best_s_, 1e-9));
  const double paid_s = paid_prices_.since(calls_ + 2 - static_cast<std::int64_t>(calls));
  const double fixed_s = price.preparation_s + price.agreement_s;
  const double budget_s = window_budget_s(limits);
  // A price that cannot be divided fits into a window where nothing else is paid.
  const bool fits = paid_s + price.calls_s + fixed_s <= budget_s || (paid_s <= 0 && price.calls_s <= budget_s);
  return fits && account.affords(price.calls_s + fixed_s);
}

void Group::pay(std::int64_t call, double seconds, Account& account) {
  if (seconds == 0) return;
  account.spend(seconds);
  spent_s_ += seconds;
  paid_prices_.pay(call, seconds);
}

void Group::begin_contest(std::size_t challenger, Contest::Kind kind, const Account& account) {
  phase_ = Phase::contest;
  incumbent_ = best_;
  challenger_ = challenger;
  gain_of_incumbent_ = gain_;
  contest_ = Contest(kind, length(account) == Length::much, length(account) == Length::brief);
}

void Group::agreed(std::span<const double> greatest, double agreement_s, Account& account) {
  require(greatest.size() <= local_.size() && greatest.size() % 2 == 0, "an agreement on more times than there are");
  pay(calls_, agreement_s, account);
  const std::size_t count = greatest.size() / 2;
  bool unlike = false;
  for (std::size_t i = 0; i < count; ++i) {
    const Timed& timed = timed_[i];
    const double seconds = greatest[2 * i], bytes = greatest[2 * i + 1];
    if (phase_ != Phase::contest) {
      looks_s_.push_back(seconds);
      unlike = unlike || (best_s_ > 0 && !are_like(bytes, bytes_));
      bytes_ = bytes;
      continue;
    }
    Contest::Side& side = timed.candidate == challenger_ ? contest_.challenger : contest_.incumbent;
    side.samples.push_back({.call = timed.call, .seconds = seconds, .charged = timed.charged, .bytes = bytes});
  }
  local_.erase(local_.begin(), local_.begin() + static_cast<std::ptrdiff_t>(greatest.size()));
  timed_.erase(timed_.begin(), timed_.begin() + static_cast<std::ptrdiff_t>(count));
  if (phase_ == Phase::contest) drop_unlike_pairs();
  if (unlike || unlike_ >= most_unlike) return give_up();
  if (phase_ == Phase::contest) {
    if (contest_.complete()) judge(account);
  } else if (static_cast<std::int64_t>(looks_s_.size()) == samples) {
    measured(median(std::exchange(looks_s_, {})), account);
  }
}

void Group::drop_unlike_pairs() {
  auto &ones = contest_.incumbent.samples, &others = contest_.challenger.samples;
  for (std::size_t i = contest_.challenger.billed; i < others.size();) {
    bytes_ = ones[i].bytes;
    // A later pair must be as the first one, too.
    if (are_like(ones[i].bytes, others[i].bytes) && are_like(ones[i].bytes, ones.front().bytes)) {
      ++i;
      continue;
    }
    contest_.drop_pair(i);
    due_ = false;
    ++unlike_;
  }
}

void Group::give_up() {
  candidates_.resize(1);
  best_ = 0;
  gain_ = 1;
  due_ = false;
  phase_ = Phase::quiet;
}

void Group::bill(std::size_t candidate, Contest::Side& side, Account& account) {
  const double typical_s = side.typical_s();
  for (; side.billed < side.samples.size(); ++side.billed) {
    const Contest::Sample& sample = side.samples[side.billed];
    // Delays that hold up a call now and then have nothing to do with the algorithm. A cold call prepares a schedule.
    double most_s = 2 * typical_s;
    if (side.billed == 0 && !candidates_[candidate].native) most_s += most_preparation_s;
    const double took_s = std::min(sample.seconds, most_s);
    const double extra_s = candidate == best_ ? 0 : std::max(0.0, took_s - best_s_);
    pay(sample.call, extra_s - sample.charged, account);
    if (side.billed == 0 && candidate == challenger_ && !candidates_[candidate].native && side.samples.size() > 1) {
      account.prepared(std::max(0.0, took_s - typical_s));
    }
  }
}

void Group::judge(Account& account) {
  due_ = false;
  const bool opening = contest_.kind() == Contest::Kind::opening;
  const Contest::Outcome verdict = contest_.judge(length(account) == Length::much);
  const double incumbent_s = contest_.incumbent.typical_s(), challenger_s = contest_.challenger.typical_s();
  const bool ahead =
      verdict == Contest::Outcome::wins || (verdict == Contest::Outcome::open && opening && contest_.ahead());
  const bool first = best_s_ == 0;
  best_ = ahead ? challenger_ : incumbent_;
  best_s_ = ahead ? challenger_s : incumbent_s;
  if (first) account.earn(best_s_ * static_cast<double>(calls_));
  bill(incumbent_, contest_.incumbent, account);
  bill(challenger_, contest_.challenger, account);
  Tried& tried = tried_[challenger_];
  tried = {.median_s = challenger_s,
           .rival_s = incumbent_s,
           .calls = tried.calls + (verdict == Contest::Outcome::open ? 0 : contest_.begun())};
  // Savings are counted from the first candidate on.
  if (best_ == 0) {
    gain_ = 1;
  } else if (ahead) {
    gain_ = gain_of_incumbent_ * incumbent_s / challenger_s;
  } else {
    gain_ = challenger_ == 0 ? std::max(1.0, challenger_s / incumbent_s) : gain_of_incumbent_;
  }
  // The pairs after these must be paid for.
  if (searches_ == 0 && contest_.opened()) searches_ = 1;
  if (verdict != Contest::Outcome::open) {
    end_contest(ahead, account);
  } else if (contest_.rests()) {
    rest_until_ = calls_ + account.limits().window_calls;
  }
}

void Group::end_contest(bool challenger_wins, Account& account) {
  searches_ = std::max<std::int64_t>(searches_, 1);
  // A delay may have decided an opening of few pairs.
  const bool early = contest_.kind() == Contest::Kind::opening && contest_.begun() < Contest::sure_pairs;
  if (early) second_chance_ = challenger_wins ? incumbent_ : challenger_;
  met_[challenger_] = met_[incumbent_] = 1;
  if (std::exchange(known_before_, false) && !challenger_wins) {
    settle();
    return;
  }
  next_challenger(account);
}

void Group::next_challenger(const Account& account) {
  met_[best_] = 1;
  if (const auto again = std::exchange(second_chance_, std::nullopt)) {
    begin_contest(*again, Contest::Kind::later, account);
    return;
  }
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (met_[i] != 0) continue;
    begin_contest(i, candidates_[i].native ? Contest::Kind::opening : Contest::Kind::later, account);
    if (price_of_pair(account).calls_s <= window_budget_s(account.limits())) return;
  }
  settle();
}

void Group::settle() {
  phase_ = Phase::settled;
  due_ = false;
  since_look_ = 0;
  look_after_ = std::clamp(look_after_ * 2, first_look, last_look);
}

void Group::measured(double now_s, Account& account) {
  due_ = false;
  const bool first = best_s_ == 0;
  if (first) {
    account.earn(now_s * static_cast<double>(calls_));
  } else if (now_s <= slower * best_s_) {
    best_s_ = std::min(best_s_, now_s);
    settle();
    return;
  }
  best_s_ = now_s;
  ++searches_;
  if (std::exchange(known_before_, false)) {
    settle();
    return;
  }
  std::fill(met_.begin(), met_.end(), std::uint8_t{0});
  next_challenger(account);
}

void Agreement::add(Group& group) {
  const std::span<const double> local = group.local();
  if (local.empty()) return;
  parts_.push_back({.group = &group, .count = local.size()});
  seconds_.insert(seconds_.end(), local.begin(), local.end());
}

void Agreement::end(Account& account) {
  account.agreed(seconds_.back());
  const double share_s = account.agreement_s() / static_cast<double>(parts_.size());
  std::size_t at = 0;
  for (const Part& part : parts_) {
    part.group->agreed(std::span<const double>(seconds_).subspan(at, part.count), share_s, account);
    at += part.count;
  }
  parts_.clear();
  seconds_.clear();
}

}  // namespace circoll::learn
