#include "wrappers/learn/contest.hpp"

#include <algorithm>

#include "facts/median.hpp"

namespace circoll::learn {
namespace {

/// A challenger must be faster by so much. A smaller gain is not worth a change.
constexpr double better = 0.97;
/// After a cold call that takes so many times, and so much longer, the other side serves for a while.
constexpr double hopeless = 3, hopeless_s = 10e-3;

}  // namespace

double Contest::Side::typical_s() const {
  if (samples.empty()) return 0;
  std::vector<double> seconds;
  for (std::size_t i = std::min(cold, samples.size() - 1); i < samples.size(); ++i)
    seconds.push_back(samples[i].seconds);
  std::sort(seconds.begin(), seconds.end());
  return seconds[(seconds.size() - 1) / 2];
}

Contest::Contest(Kind kind, bool often, bool brief) : kind_(kind) {
  incumbent.cold = challenger.cold = brief ? 2 : 1;
  if (often) {
    stop_ = 1;
  } else {
    stop_ = brief && kind == Kind::opening ? opening_pairs : static_cast<int>(challenger.cold) + 1;
  }
}

void Contest::served() {
  half_ = !half_;
  if (half_) ++begun_;
}

void Contest::drop_pair(std::size_t pair) {
  for (Side* const side : {&incumbent, &challenger})
    side->samples.erase(side->samples.begin() + static_cast<std::ptrdiff_t>(pair));
  --begun_;
}

int Contest::wins() const {
  int wins = 0;
  for (std::size_t i = challenger.cold; i < challenger.samples.size(); ++i) {
    wins += challenger.samples[i].seconds < incumbent.samples[i].seconds ? 1 : 0;
  }
  return wins;
}

double Contest::Side::sum_s() const {
  double sum_s = 0;
  for (std::size_t i = cold; i < samples.size(); ++i) sum_s += samples[i].seconds;
  return sum_s;
}

double Contest::ratio_of_pairs() const {
  std::vector<double> ratios;
  for (std::size_t i = std::min(challenger.cold, challenger.samples.size() - 1); i < challenger.samples.size(); ++i) {
    ratios.push_back(challenger.samples[i].seconds / incumbent.samples[i].seconds);
  }
  return median(std::move(ratios));
}

bool Contest::ahead() const { return (warm() > 0 || rests()) && ratio_of_pairs() < better; }

Contest::Outcome Contest::judge(bool often) {
  Outcome verdict = kind_ == Kind::opening ? verdict_of_opening() : verdict_later();
  // Where processors are busy, brief calls of one algorithm are delayed more often than those of another one, by a
  // thousand times what they take. Then the sums tell more than the values in the middle.
  const bool delayed = brief() && challenger.sum_s() > incumbent.sum_s();
  if (verdict == Outcome::wins && (delayed || (brief() && kind_ == Kind::opening && begun_ < sure_pairs)))
    verdict = Outcome::open;
  if (verdict != Outcome::open) return verdict;
  if (begun_ >= most_pairs) {
    return ahead() && !delayed && wins() * 10 >= warm() * 7 ? Outcome::wins : Outcome::stays;
  }
  if (begun_ < 3 && often) {
    ++stop_;
  } else {
    stop_ = begun_ < opening_pairs ? opening_pairs : begun_ < sure_pairs ? sure_pairs : most_pairs;
  }
  return Outcome::open;
}

bool Contest::apart(double ratio) const {
  const bool challenger_wins = challenger.typical_s() < incumbent.typical_s();
  const auto& slow = (challenger_wins ? incumbent : challenger).samples;
  const auto& fast = (challenger_wins ? challenger : incumbent).samples;
  if (!brief() && slow.front().seconds < fast.front().seconds) return false;  // a delay may have ended in between
  const auto less = [](const Sample& a, const Sample& b) { return a.seconds < b.seconds; };
  return std::min_element(slow.begin(), slow.end(), less)->seconds >=
         ratio *
             std::max_element(fast.begin() + static_cast<std::ptrdiff_t>(challenger.cold), fast.end(), less)->seconds;
}

bool Contest::rests() const {
  const double own_s = incumbent.typical_s(), other_s = challenger.typical_s();
  const double least_s = std::min(own_s, other_s), most_s = std::max(own_s, other_s);
  return kind_ == Kind::opening && begun_ == 1 && !brief() && most_s >= hopeless * least_s &&
         most_s - least_s >= hopeless_s;
}

Contest::Outcome Contest::verdict_of_opening() const {
  const double typical = challenger.typical_s() / incumbent.typical_s();
  const Outcome faster = typical < 1 ? Outcome::wins : Outcome::stays;
  if (warm() <= 0) return Outcome::open;
  if (warm() == 1) return apart(1.2) ? faster : Outcome::open;
  if (begun_ < opening_pairs) return apart(1.1) ? faster : Outcome::open;
  // A delay changes the one, and a change of the machine the other.
  const double least = std::min(typical, ratio_of_pairs()), most = std::max(typical, ratio_of_pairs());
  const double enough = begun_ < sure_pairs ? 1.1 : 1.05;
  return least >= enough || most <= 1 / enough ? faster : Outcome::open;
}

Contest::Outcome Contest::verdict_later() const {
  const double ratio = challenger.typical_s() / incumbent.typical_s();
  if (warm() <= 0) return ratio >= 1.3 ? Outcome::stays : Outcome::open;
  if (warm() == 1) return ratio >= 1.15 ? Outcome::stays : Outcome::open;
  if (begun_ < opening_pairs) {
    if (ratio >= 1.06) return Outcome::stays;
    return ratio < 1 && apart(1.1) ? Outcome::wins : Outcome::open;
  }
  if (ratio_of_pairs() >= 1) return Outcome::stays;
  return std::max(ratio, ratio_of_pairs()) <= (begun_ < sure_pairs ? 0.9 : 0.93) && wins() * 4 >= warm() * 3
             ? Outcome::wins
             : Outcome::open;
}

}  // namespace circoll::learn
