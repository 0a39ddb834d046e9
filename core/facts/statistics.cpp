// Quantiles, intervals of medians, and the tests of Mann and Whitney, Wilcoxon, and Student.
#include "facts/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

namespace circoll {
namespace {

constexpr std::size_t most_exact = 60;

struct Ranks {
  std::vector<std::size_t>
      doubled{};        ///< of all values; twice the mean rank of equal ones, counted from 1: a whole number
  std::size_t sum = 0;  ///< of those of the first sample
  double ties = 0;      ///< the sum of t^3 - t over groups of t equal values
};

Ranks ranks_of(std::span<const double> larger, std::span<const double> smaller) {
  std::vector<std::pair<double, bool>> pooled;
  pooled.reserve(larger.size() + smaller.size());
  for (const double value : larger) pooled.emplace_back(value, true);
  for (const double value : smaller) pooled.emplace_back(value, false);
  std::ranges::sort(pooled);
  Ranks ranks;
  for (std::size_t first = 0, next = 0; first < pooled.size(); first = next) {
    while (next < pooled.size() && pooled[next].first == pooled[first].first) ++next;
    const auto t = static_cast<double>(next - first);
    ranks.ties += t * t * t - t;
    for (std::size_t i = first; i < next; ++i) {
      ranks.doubled.push_back(first + 1 + next);
      if (pooled[i].second) ranks.sum += ranks.doubled.back();
    }
  }
  return ranks;
}

/// The share of those with this sum or a larger one, of all ways to choose n of the ranks.
double exact(const Ranks& ranks, std::size_t n) {
  std::size_t all = 0;
  for (const std::size_t rank : ranks.doubled) all += rank;
  // ways[k][s]: to choose k of the ranks seen so far that have the sum s.
  std::vector<std::vector<double>> ways(n + 1, std::vector<double>(all + 1, 0.0));
  ways[0][0] = 1;
  std::size_t seen = 0;
  for (const std::size_t rank : ranks.doubled) {
    ++seen;
    for (std::size_t k = std::min(n, seen); k > 0; --k) {
      for (std::size_t s = rank; s <= all; ++s) ways[k][s] += ways[k - 1][s - rank];
    }
  }
  double total = 0, extreme = 0;
  for (std::size_t s = 0; s <= all; ++s) {
    total += ways[n][s];
    if (s >= ranks.sum) extreme += ways[n][s];
  }
  return extreme / total;
}

double approximate(const Ranks& ranks, double n, double m) {
  const double all = n + m;
  const double u = static_cast<double>(ranks.sum) / 2 - n * (n + 1) / 2;
  const double variance = n * m / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
  if (!(variance > 0)) return 1;
  return std::erfc((u - n * m / 2 - 0.5) / std::sqrt(2 * variance)) / 2;
}

constexpr std::size_t most_exact_pairs = 30;

/// The chance that the signed ranks of n differences with random signs have a positive sum of at most `sum`.
double signed_rank_tail(std::size_t n, double sum) {
  const auto count = static_cast<double>(n);
  if (n > most_exact_pairs) {
    const double mean = count * (count + 1) / 4;
    const double variance = mean * (2 * count + 1) / 6;
    return std::erfc((mean - sum - 0.5) / std::sqrt(2 * variance)) / 2;
  }
  // chances[s]: of the sum s.
  std::vector<double> chances(n * (n + 1) / 2 + 1, 0.0);
  chances[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    for (std::size_t s = chances.size(); s-- > 0;) chances[s] = (chances[s] + (s >= rank ? chances[s - rank] : 0)) / 2;
  }
  double tail = 0;
  for (std::size_t s = 0; s < chances.size() && static_cast<double>(s) <= sum; ++s) tail += chances[s];
  return std::min(tail, 1.0);
}

/// The two-sided chance of |t| or more. It is the finite series for whole degrees of freedom (Abramowitz and Stegun,
/// 26.7.3 and 26.7.4).
double student_tails(double t, std::size_t freedom) {
  const double angle = std::atan(std::abs(t) / std::sqrt(static_cast<double>(freedom)));
  const double cosine = std::cos(angle), sine = std::sin(angle);
  double sum = 0, term = freedom % 2 == 0 ? 1 : cosine;
  for (std::size_t i = freedom % 2; i + 2 <= freedom; i += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(i + 1) / static_cast<double>(i + 2);
  }
  return freedom % 2 == 0 ? 1 - sine * sum : 1 - 2 / std::numbers::pi * (angle + sine * sum);
}

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

ConfidenceInterval median_interval(std::span<const double> sorted, double confidence) {
  const std::size_t n = sorted.size();
  if (n == 0) return {};
  // P(fewer than `below` + 1 of n values lie below the median) must not exceed what each side may miss.
  const double may_miss = (1 - confidence) / 2;
  const double logarithm_of_all = static_cast<double>(n) * std::log(2.0);
  double missed = 0;
  std::size_t below = 0;
  for (; below < n / 2; ++below) {
    const double ways = std::lgamma(static_cast<double>(n) + 1) - std::lgamma(static_cast<double>(below) + 1) -
                        std::lgamma(static_cast<double>(n - below) + 1);
    missed += std::exp(ways - logarithm_of_all);
    if (missed > may_miss) break;
  }
  // Values number `below` and n + 1 - `below`, counted from 1.
  const std::size_t low = below == 0 ? 0 : below - 1;
  return {sorted[low], sorted[n - 1 - low]};
}

double mann_whitney(std::span<const double> larger, std::span<const double> smaller) {
  if (larger.empty() || smaller.empty()) return 1;
  const Ranks ranks = ranks_of(larger, smaller);
  if (larger.size() + smaller.size() <= most_exact) return exact(ranks, larger.size());
  return approximate(ranks, static_cast<double>(larger.size()), static_cast<double>(smaller.size()));
}

double least_mann_whitney(std::size_t larger, std::size_t smaller) {
  double least = 1;
  for (std::size_t i = 1; i <= smaller; ++i) least *= static_cast<double>(i) / static_cast<double>(larger + i);
  return least;
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::size_t test) { return p_values[test]; });
  std::vector<double> corrected(p_values.size());
  double most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    most = std::max(most, static_cast<double>(order.size() - i) * p_values[order[i]]);
    corrected[order[i]] = std::min(1.0, most);
  }
  return corrected;
}

Shift signed_rank(std::span<const double> differences, double confidence) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::size_t n = differences.size();
  if (n == 0) return {.interval = {-infinity, infinity}};
  std::vector<double> means;
  means.reserve(n * (n + 1) / 2);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) means.push_back((differences[i] + differences[j]) / 2);
  }
  std::ranges::sort(means);
  const auto below = static_cast<double>(std::ranges::lower_bound(means, 0.0) - means.begin());
  const auto above = static_cast<double>(means.end() - std::ranges::upper_bound(means, 0.0));
  const auto zeros = static_cast<double>(means.size()) - below - above;
  Shift shift{.middle = median_of_sorted(means), .interval = {-infinity, infinity}};
  shift.p_value = std::min(1.0, 2 * signed_rank_tail(n, std::min(below, above) + zeros));
  // The shift lies outside the means number k and behind with at most this chance on each side.
  std::size_t outside = 0, beyond = means.size() / 2;
  if (2 * signed_rank_tail(n, 0) > 1 - confidence) return shift;
  while (beyond - outside > 1) {
    const std::size_t middle = (outside + beyond) / 2;
    (2 * signed_rank_tail(n, static_cast<double>(middle)) <= 1 - confidence ? outside : beyond) = middle;
  }
  shift.interval = {means[outside], means[means.size() - 1 - outside]};
  return shift;
}

Shift student(std::span<const double> differences, double confidence) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::size_t n = differences.size();
  if (n < 2) return {.middle = n == 1 ? differences[0] : 0, .interval = {-infinity, infinity}};
  const auto count = static_cast<double>(n);
  const double mean = std::accumulate(differences.begin(), differences.end(), 0.0) / count;
  double squares = 0;
  for (const double one : differences) squares += (one - mean) * (one - mean);
  const double error = std::sqrt(squares / (count - 1) / count);
  double low = 0, high = 1e6;  // of t
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (student_tails(middle, n - 1) > 1 - confidence ? low : high) = middle;
  }
  return {.middle = mean,
          .interval = {mean - high * error, mean + high * error},
          .p_value = error > 0   ? student_tails(mean / error, n - 1)
                     : mean == 0 ? 1.0
                                 : 0.0};
}

}  // namespace circoll
