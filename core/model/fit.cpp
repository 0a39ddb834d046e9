#include "model/fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "circoll/error.hpp"
#include "facts/median.hpp"

namespace circoll {
namespace {

struct MeasuredPoint {
  double bytes;
  double seconds;
};

double error_of(const MeasuredPoint& point, double intercept, double slope) {
  return std::abs(intercept + slope * point.bytes - point.seconds) / point.seconds;
}

double sum_of_errors(const std::vector<MeasuredPoint>& points, double intercept, double slope) {
  double sum = 0;
  for (const MeasuredPoint& point : points) sum += error_of(point, intercept, slope);
  return sum;
}

/// In ascending order of sizes.
std::vector<MeasuredPoint> medians_by_size(const std::vector<TimedBytes>& times) {
  std::map<Count, std::vector<double>> by_size;
  for (const TimedBytes& one : times) {
    require(one.seconds > 0 && std::isfinite(one.seconds) && one.bytes >= 0,
            "measured times are positive, and sizes not negative");
    by_size[one.bytes].push_back(one.seconds);
  }
  std::vector<MeasuredPoint> points;
  points.reserve(by_size.size());
  for (auto& [bytes, seconds] : by_size) points.push_back({static_cast<double>(bytes), median(std::move(seconds))});
  return points;
}

/// The line without a coefficient of 0.
Line rough_line(const std::vector<TimedBytes>& times) {
  Line line = fit_line(times);
  const std::vector<MeasuredPoint> points = medians_by_size(times);
  if (!(line.intercept_s > 0)) line.intercept_s = points.front().seconds;
  if (!(line.slope_s_per_byte > 0)) line.slope_s_per_byte = points.back().seconds / points.back().bytes;
  return line;
}

}  // namespace

Line fit_line(const std::vector<TimedBytes>& times) {
  const std::vector<MeasuredPoint> points = medians_by_size(times);
  if (points.size() < 2) throw Error(ErrorCode::invalid_argument, "times of at least two sizes are needed");
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
  for (const MeasuredPoint& point : points) errors.push_back(error_of(point, best.intercept_s, best.slope_s_per_byte));
  best.samples = points.size();
  best.median_error = median(errors);
  best.largest_error = *std::ranges::max_element(errors);
  return best;
}

NetworkNumbers numbers_of(const Line& exchange, const Line& one_way) {
  return {.alpha_s = exchange.intercept_s,
          .beta_s_per_byte = exchange.slope_s_per_byte,
          .f_alpha = one_way.intercept_s / exchange.intercept_s,
          .f_beta = one_way.slope_s_per_byte / exchange.slope_s_per_byte};
}

std::optional<NetworkNumbers> rough_numbers(const std::vector<TimedBytes>& exchanges,
                                            const std::vector<TimedBytes>& one_way, const TimedBurst& burst,
                                            const TimedBurst& round) {
  if (medians_by_size(exchanges).size() < 2 || medians_by_size(one_way).size() < 2) return std::nullopt;
  NetworkNumbers numbers = numbers_of(rough_line(exchanges), rough_line(one_way));
  numbers.f_alpha = std::clamp(numbers.f_alpha, 0.5, 1.0);
  numbers.f_beta = std::clamp(numbers.f_beta, 0.75, 1.0);
  constexpr double least = 0.01;  // of alpha, where noise leaves less
  const auto overhead_s = [&](const TimedBurst& of, double way, double least_s) {
    const bool known = of.seconds > 0 && of.messages > 1;
    const double each_s = known ? (of.seconds / way - numbers.alpha_s) / (of.messages - 1) : 0;
    return known ? std::clamp(each_s, least_s, numbers.alpha_s) : 0;
  };
  numbers.overhead_s = overhead_s(burst, numbers.f_alpha, least * numbers.alpha_s);
  // Twice, for many more partners take longer: 1 to 2.5 times as long on 8, 11 and 16 emulated hosts.
  numbers.overhead_both_s = std::min(2 * overhead_s(round, 1, least * numbers.alpha_s), numbers.alpha_s);
  if (numbers.overhead_both_s > 0) numbers.overhead_both_s = std::max(numbers.overhead_both_s, numbers.overhead_s);
  return numbers;
}

Count part_bytes(const NetworkNumbers& numbers) {
  constexpr Count part = 16384 - 64;  // messages of usual lengths are no multiple, which would end with an empty part
  constexpr double most_share = 0.25;
  const double message_s = numbers.overhead_s > 0 ? numbers.overhead_s : numbers.alpha_s;
  return message_s <= most_share * static_cast<double>(part) * numbers.beta_s_per_byte ? part : 0;
}

NetworkNumbers network_of(const Machine& machine) {
  return {.alpha_s = machine.alpha_s,
          .beta_s_per_byte = machine.beta_s_per_byte,
          .f_alpha = machine.f_alpha,
          .f_beta = machine.f_beta,
          .overhead_s = machine.overhead_s,
          .overhead_both_s = machine.overhead_both_s};
}

Machine with_network(Machine machine, const NetworkNumbers& numbers, std::string name) {
  machine.node_alpha_s = machine.within_alpha_s();
  machine.node_beta_s_per_byte = machine.within_beta_s_per_byte();
  machine.name = std::move(name);
  machine.alpha_s = numbers.alpha_s;
  machine.beta_s_per_byte = numbers.beta_s_per_byte;
  machine.f_alpha = numbers.f_alpha;
  machine.f_beta = numbers.f_beta;
  machine.overhead_s = numbers.overhead_s;
  // Two hosts cannot tell it.
  machine.overhead_both_s = numbers.overhead_both_s > 0 ? numbers.overhead_both_s : numbers.alpha_s;
  return machine;
}

}  // namespace circoll
