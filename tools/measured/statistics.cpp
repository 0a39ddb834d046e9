// Quantiles, intervals of medians, and the Mann-Whitney test.
#include "measured/statistics.hpp"

#include <algorithm>
#include <cmath>
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

}  // namespace circoll
