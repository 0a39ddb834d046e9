// The best number of segments of a pipeline.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "circoll/model.hpp"

namespace circoll {
namespace {

/// The number of one-way rounds depends on n modulo this period. It is that of a phase of the pipelined broadcast,
/// among all ranks or inside and between nodes.
std::int64_t period_of(const Selection& selection, Rank p) {
  const auto q = [](Rank ranks) { return static_cast<std::int64_t>(std::ceil(std::log2(std::max<Rank>(ranks, 2)))); };
  const ParamDeclaration* const declared = selection.algorithm->param("cores");
  if (declared == nullptr) return q(p);
  const auto given = selection.params.find("cores");
  const std::int64_t cores = std::min(given == selection.params.end() ? declared->fallback : given->second, p);
  return std::lcm(q(cores), q((p + cores - 1) / cores));
}

/// The minimum of a + b n + c / n through three points; `high` or 1 if it only falls or rises.
double least_of(const std::array<double, 3>& n, const std::array<double, 3>& time, double high) {
  const double rise1 = (time[1] - time[0]) / (n[1] - n[0]);  // b - c / (n0 n1)
  const double rise2 = (time[2] - time[1]) / (n[2] - n[1]);  // b - c / (n1 n2)
  const double c = (rise2 - rise1) / (1 / (n[0] * n[1]) - 1 / (n[1] * n[2]));
  const double b = rise1 + c / (n[0] * n[1]);
  if (c <= 0) return 1;
  return b > 0 ? std::sqrt(c / b) : high;
}

}  // namespace

Selection with_best_segments(const Selection& selection, Rank p, Count bytes, const Machine& machine, Rank root) {
  const ParamDeclaration* const declared = selection.algorithm->param("segments");
  if (declared == nullptr || selection.params.contains("segments")) return selection;
  const auto with = [&](std::int64_t n) {
    Selection tried = selection;
    tried.params.insert_or_assign("segments", n);
    return tried;
  };
  const auto time = [&](std::int64_t n) { return seconds(terms_of(with(n), p, bytes, root), machine); };
  const std::int64_t low = declared->minimum;
  const std::int64_t high = std::min(declared->maximum, most_segments);
  // Rounds and volumes are affine in n, so T(n) = a + b n + c / n, but for one-way rounds: there n = 1 may be a case of
  // its own, and their number may vary a little with n mod q (period_of). So the points differ by multiples of q; and
  // what is near the minimum is tried if one-way rounds have a price of their own.
  const std::int64_t q = period_of(selection, p);
  std::array<double, 3> n{};
  std::array<double, 3> times{};
  for (std::size_t i = 0; i < n.size(); ++i) {
    const std::int64_t at = 1 + (q << (i + 1));
    n[i] = static_cast<double>(at);
    times[i] = time(at);
  }
  const auto middle = static_cast<std::int64_t>(
      std::clamp(least_of(n, times, static_cast<double>(high)), static_cast<double>(low), static_cast<double>(high)));
  const std::int64_t around = machine.f_alpha == 1 && machine.f_beta == 1 ? 1 : q;
  std::int64_t best = low;
  double least = time(low);
  for (std::int64_t tried = std::max(low, middle - around); tried <= std::min(high, middle + around); ++tried) {
    const double now = time(tried);
    if (now >= least) continue;
    least = now;
    best = tried;
  }
  return with(best);
}

}  // namespace circoll
