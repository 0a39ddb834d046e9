// Verdicts by ranks of paired log ratios, with a share of the chance to err for each look.
//
// The order of a pair is random. If both kinds are equal, each log ratio has either sign with the same chance, whatever
// the machine does: the signed-rank test needs nothing else. But it needs 11 pairs for 1 error in 1,000 on each side.
// With fewer pairs Student's interval answers: from four on a machine that was quiet in all runs, else from eight
// (docs/adr/0031-a-coin-orders-each-pair.md).
#include "facts/judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace circoll {
namespace {

/// The share of the processors that other processes may take on a quiet machine.
constexpr double quiet_share = 0.1;
/// Two runs can always be compared whose shares differ by `alike`. Beyond, the half of the pairs counts whose shares
/// differ least, unless that means more than `unlike`. Then the change itself may shift the shares, and all count.
constexpr double alike = 0.1, unlike = 0.25;
/// Numbers of pairs at which a quiet machine is asked, and the share of `may_err` for each of these looks.
constexpr std::array<std::size_t, 4> quick{4, 6, 8, 11};
constexpr double quick_share = 0.08;
constexpr std::size_t quick_beside_others = 8;  // pairs
/// The looks by ranks begin here. The number of pairs grows by 1.4 from one to the next.
constexpr std::size_t first_by_ranks = 12;

/// The pairs that count. The rule sees no times, and treats both runs of a pair alike. So it favours neither.
std::vector<double> counted(std::span<const RunPair> pairs) {
  const auto difference = [](const RunPair& pair) { return std::abs(pair.others_without - pair.others_with); };
  std::vector<double> differences(pairs.size());
  std::ranges::transform(pairs, differences.begin(), difference);
  const double half = median(std::move(differences));
  const double most = half > unlike ? 1 : std::max(half, alike);
  std::vector<double> all;
  for (const RunPair& pair : pairs) {
    if (difference(pair) <= most) all.push_back(log_ratio(pair));
  }
  return all;
}

bool quiet(std::span<const RunPair> pairs) {
  return std::ranges::all_of(
      pairs, [](const RunPair& pair) { return std::max(pair.others_without, pair.others_with) < quiet_share; });
}

/// True if Student's interval may answer: the ranks of so few pairs decide nothing. The fewer the pairs, the more it
/// depends on normal differences, so the first ones must be of a quiet machine.
bool may_be_quick(std::span<const RunPair> pairs, std::size_t count) {
  return count < first_by_ranks && count >= (quiet(pairs) ? quick.front() : quick_beside_others);
}

Shift shift_of(std::span<const RunPair> pairs, std::span<const double> differences, double may_err) {
  return may_be_quick(pairs, differences.size()) ? student(differences, 1 - may_err)
                                                 : signed_rank(differences, 1 - may_err);
}

/// The number of pairs in all that would decide, if the pairs to come are as these.
double pairs_needed(std::vector<double> differences, double middle, double same) {
  for (double& one : differences) one = std::abs(one - middle);
  const double spread = 1.5 * median(std::move(differences));  // the standard deviation of normal values
  const double distance = std::max(std::abs(middle), same - std::abs(middle));
  constexpr double errors = 4;  // of the mean, which the intervals reach to
  return distance > 0 ? errors * errors * spread * spread / (distance * distance) : 1e6;
}

Judgement judge_once(std::span<const RunPair> pairs, double may_err, double same_within) {
  const std::vector<double> differences = counted(pairs);
  Judgement verdict{.interval = {0, std::numeric_limits<double>::infinity()},
                    .pairs = static_cast<int>(differences.size()),
                    .disturbed = static_cast<int>(pairs.size() - differences.size())};
  if (differences.empty()) return verdict;
  const Shift shift = shift_of(pairs, differences, may_err);
  verdict.ratio = std::exp(shift.middle);
  verdict.interval = {std::exp(shift.interval.low), std::exp(shift.interval.high)};
  verdict.disagreeing = static_cast<int>(
      std::ranges::count_if(differences, [&](double one) { return (one > 0) != (shift.middle > 0) || one == 0; }));
  const double same = std::log1p(same_within);
  if (shift.interval.low >= -same && shift.interval.high <= same) {
    verdict.change = Change::same;
  } else if (shift.interval.low > 0 && shift.middle >= same) {
    verdict.change = Change::faster;
  } else if (shift.interval.high < 0 && shift.middle <= -same) {
    verdict.change = Change::slower;
  } else {
    const double needed =
        std::clamp(pairs_needed(differences, shift.middle, same), static_cast<double>(quick_beside_others), 1e6);
    verdict.more_pairs = std::max(2, static_cast<int>(std::ceil(needed)) - verdict.pairs);
  }
  return verdict;
}

}  // namespace

std::string_view to_string(Change change) {
  constexpr std::array<std::string_view, 5> names{"not decided", "faster", "slower", "same", "-"};
  return names.at(static_cast<std::size_t>(change));
}

double log_ratio(const RunPair& pair) {
  constexpr double nothing_s = 1e-9;  // less than any clock sees
  return std::log((pair.without_s + nothing_s) / (pair.with_s + nothing_s));
}

Judgement judge(std::span<const RunPair> pairs, const JudgeOptions& options) {
  return judge_once(pairs, options.may_err, options.same_within);
}

std::vector<Judgement> judge_rows(const std::vector<std::vector<RunPair>>& rows, const JudgeOptions& options) {
  std::vector<double> p_values;
  p_values.reserve(rows.size());
  for (const auto& pairs : rows) p_values.push_back(shift_of(pairs, counted(pairs), options.may_err).p_value);
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return p_values[row]; });
  std::vector<Judgement> verdicts(rows.size());
  std::size_t left = rows.size();  // hypotheses that stand
  bool stopped = false;
  for (const std::size_t row : order) {
    verdicts[row] = judge_once(rows[row], options.may_err / static_cast<double>(left), options.same_within);
    stopped = stopped || p_values[row] > options.may_err / static_cast<double>(left);
    if (!stopped) --left;
  }
  return verdicts;
}

void Judge::look(double share) {
  share = std::min(share, left_);
  left_ -= share;
  verdict_ = judge_once(pairs_, share * options_.may_err, options_.same_within);
}

void Judge::add(const RunPair& pair) {
  if (decided()) return;
  pairs_.push_back(pair);
  const std::size_t count = counted(pairs_).size();
  if (quick_looks_ < quick.size() && count >= quick.at(quick_looks_)) {
    ++quick_looks_;
    if (may_be_quick(pairs_, count)) return look(quick_share);
  }
  if (static_cast<double>(count) < first_by_ranks * std::pow(1.4, static_cast<double>(looks_))) return;
  // Each look takes a quarter of the chance that is left, so that much remains for the last one.
  const double share = left_ / 4;
  if (std::pow(0.5, static_cast<double>(count) - 1) > share * options_.may_err) return;  // too few to decide
  ++looks_;
  look(share);
}

void Judge::finish() {
  if (!decided() && !pairs_.empty()) look(left_);
}

}  // namespace circoll
