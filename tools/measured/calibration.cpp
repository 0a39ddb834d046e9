// From measured times to a machine.
#include <algorithm>
#include <cmath>
#include <map>

#include "circoll/error.hpp"
#include "facts/median.hpp"
#include "measured/calibration.hpp"
#include "measured/fit_ways.hpp"
#include "measured/sample_kind.hpp"

namespace circoll {
namespace {

struct Point {
  double bytes;
  double seconds;
};

double error_of(const Point& point, double intercept, double slope) {
  return std::abs(intercept + slope * point.bytes - point.seconds) / point.seconds;
}

/// Medians by size.
std::map<Count, double> medians_of(const std::vector<Sample>& samples, SampleKind kind) {
  std::map<Count, std::vector<double>> by_size;
  for (const Sample& sample : samples) {
    if (sample.kind == kind) by_size[sample.bytes].push_back(sample.seconds);
  }
  std::map<Count, double> medians;
  for (const auto& [bytes, seconds] : by_size) medians[bytes] = median(seconds);
  return medians;
}

SlowExchange slow_exchange_of(const std::vector<Sample>& samples, const Line& line) {
  // Both directions share something where they take twice the time, and the line does not have it.
  constexpr double slow = 1.5;
  constexpr double above = 1.25;
  const std::map<Count, double> one_way = medians_of(samples, SampleKind::ping_pong);
  const std::map<Count, double> exchanges = medians_of(samples, SampleKind::exchange);
  SlowExchange found;
  std::vector<double> factors;
  for (auto size = exchanges.rbegin(); size != exchanges.rend(); ++size) {
    const auto alone = one_way.find(size->first);
    const double factor = size->second / (line.intercept_s + static_cast<double>(size->first) * line.slope_s_per_byte);
    if (alone == one_way.end() || size->second < slow * alone->second || factor < above) break;
    found.from_bytes = size->first;
    factors.push_back(factor);
  }
  if (!factors.empty()) found.factor = median(factors);
  return found;
}

double sum_of_errors(const std::vector<Point>& points, double intercept, double slope) {
  double sum = 0;
  for (const Point& point : points) sum += error_of(point, intercept, slope);
  return sum;
}

}  // namespace

Line fit_line(const std::vector<Sample>& samples, SampleKind kind) {
  std::map<Count, std::vector<double>> by_size;
  for (const Sample& sample : samples) {
    if (sample.kind != kind) continue;
    require(sample.seconds > 0 && std::isfinite(sample.seconds) && sample.bytes >= 0,
            "measured times are positive, and sizes not negative");
    by_size[sample.bytes].push_back(sample.seconds);
  }
  if (by_size.size() < 2) {
    throw Error(ErrorCode::invalid_argument,
                "samples of at least two sizes are needed of " + std::string(measured::to_string(kind)));
  }
  std::vector<Point> points;
  points.reserve(by_size.size());
  for (const auto& [bytes, seconds] : by_size) points.push_back({static_cast<double>(bytes), median(seconds)});
  // The sum of weighted absolute deviations is convex and piecewise linear in the two coefficients: a least one lies
  // where two deviations vanish, or one and a coefficient. So few points allow to try them all.
  Line best;
  double least = INFINITY;
  const auto attempt = [&](double intercept, double slope) {
    if (!(intercept >= 0) || !(slope >= 0)) return;
    const double sum = sum_of_errors(points, intercept, slope);
    if (sum < least) {
      least = sum;
      best.intercept_s = intercept;
      best.slope_s_per_byte = slope;
    }
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    attempt(points[i].seconds, 0);
    if (points[i].bytes > 0) attempt(0, points[i].seconds / points[i].bytes);
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const double slope = (points[j].seconds - points[i].seconds) / (points[j].bytes - points[i].bytes);
      attempt(points[i].seconds - slope * points[i].bytes, slope);
    }
  }
  std::vector<double> errors;
  errors.reserve(points.size());
  for (const Point& point : points) errors.push_back(error_of(point, best.intercept_s, best.slope_s_per_byte));
  best.samples = points.size();
  best.median_error = median(errors);
  best.largest_error = *std::max_element(errors.begin(), errors.end());
  return best;
}

Fit fit_machine(const Calibration& calibration) {
  Fit fit{.machine = {},
          .exchange = fit_line(calibration.samples, SampleKind::exchange),
          .ping_pong = fit_line(calibration.samples, SampleKind::ping_pong),
          .reduction = fit_line(calibration.samples, SampleKind::reduction)};
  fit.machine.name = calibration.name;
  fit.machine.alpha_s = fit.exchange.intercept_s;
  fit.machine.beta_s_per_byte = fit.exchange.slope_s_per_byte;
  fit.machine.gamma_s_per_byte = fit.reduction.slope_s_per_byte;
  fit.machine.f_alpha = fit.ping_pong.intercept_s / fit.exchange.intercept_s;
  fit.machine.f_beta = fit.ping_pong.slope_s_per_byte / fit.exchange.slope_s_per_byte;
  const bool nodes = std::any_of(calibration.samples.begin(), calibration.samples.end(),
                                 [](const Sample& sample) { return sample.kind == SampleKind::node_exchange; });
  if (nodes) {
    fit.node_exchange = fit_line(calibration.samples, SampleKind::node_exchange);
    fit.machine.node_alpha_s = fit.node_exchange->intercept_s;
    fit.machine.node_beta_s_per_byte = fit.node_exchange->slope_s_per_byte;
    require(fit.machine.node_alpha_s > 0 && fit.machine.node_beta_s_per_byte > 0,
            "the samples inside a node give no latency, or no time per byte (are there short and long ones?)");
  }
  for (const double value : {fit.machine.alpha_s, fit.machine.beta_s_per_byte, fit.machine.gamma_s_per_byte,
                             fit.machine.f_alpha, fit.machine.f_beta}) {
    require(value > 0 && std::isfinite(value),
            "the samples give no machine: a latency or a time per byte would be 0 (are there short and long ones?)");
  }
  fit.slow_exchange = slow_exchange_of(calibration.samples, fit.exchange);
  measured::fit_ways(calibration, &fit);
  return fit;
}

}  // namespace circoll
