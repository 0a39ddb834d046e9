#include "measured/fit_ways.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include "facts/median.hpp"

namespace circoll::measured {
namespace {

/// Combining few bytes takes no longer than the messages' times differ.
constexpr Count least_combined_bytes = 1024;
/// Whatever noise says, no way is free.
constexpr double least_overhead_s = 1e-9;

/// The samples of one way.
std::vector<Sample> samples_of(const Calibration& calibration, std::size_t way) {
  const Count from = calibration.ways[way].from_bytes;
  const Count to =
      way + 1 < calibration.ways.size() ? calibration.ways[way + 1].from_bytes : std::numeric_limits<Count>::max();
  std::vector<Sample> inside;
  std::copy_if(calibration.samples.begin(), calibration.samples.end(), std::back_inserter(inside),
               [&](const Sample& sample) { return sample.bytes >= from && sample.bytes < to; });
  return inside;
}

/// The median of what `solve` makes of each sample of a kind; `otherwise` if there are none.
double median_of(const std::vector<Sample>& samples, SampleKind kind, double otherwise,
                 const std::function<double(double bytes, double seconds)>& solve) {
  std::vector<double> values;
  for (const Sample& sample : samples) {
    if (sample.kind == kind) values.push_back(solve(static_cast<double>(sample.bytes), sample.seconds));
  }
  return values.empty() ? otherwise : median(values);
}

/// Where noise leaves no latency, the shortest messages give one; where it leaves no time per byte, the longest do.
void set_line(const std::vector<Sample>& samples, const Line& line, NodeWay* way) {
  std::map<Count, double> times;
  for (const Sample& sample : samples) {
    if (sample.kind == SampleKind::memory_exchange) times.emplace(sample.bytes, sample.seconds);
  }
  const auto& [most_bytes, longest_s] = *times.rbegin();
  way->alpha_s = line.intercept_s > 0 ? line.intercept_s : times.begin()->second;
  way->beta_s_per_byte =
      line.slope_s_per_byte > 0 ? line.slope_s_per_byte : longest_s / static_cast<double>(most_bytes);
}

NodeWay fit_way(const SampledWay& sampled, std::vector<Sample> samples, const Machine& machine, Line* exchange) {
  *exchange = fit_line(samples, SampleKind::memory_exchange);
  NodeWay way{.name = sampled.name, .from_bytes = sampled.from_bytes, .read = sampled.read};
  set_line(samples, *exchange, &way);
  // burst messages that go one way: the first takes a latency, the others an overhead.
  const double overhead = median_of(samples, SampleKind::memory_burst, way.alpha_s, [&](double bytes, double seconds) {
    const double copied_s = burst * bytes * machine.f_beta * way.beta_s_per_byte;
    return ((seconds - copied_s) / machine.f_alpha - way.alpha_s) / (burst - 1);
  });
  way.overhead_s = std::clamp(overhead, least_overhead_s, way.alpha_s);
  std::erase_if(samples, [](const Sample& sample) { return sample.bytes < least_combined_bytes; });
  const double gamma =
      median_of(samples, SampleKind::memory_reduction, machine.gamma_s_per_byte,
                [&](double bytes, double seconds) { return (seconds - way.alpha_s) / bytes - way.beta_s_per_byte; });
  way.gamma_s_per_byte = gamma > 0 ? gamma : machine.gamma_s_per_byte;
  return way;
}

}  // namespace

void fit_ways(const Calibration& calibration, Fit* fit) {
  Machine& machine = fit->machine;
  for (std::size_t i = 0; i < calibration.ways.size(); ++i) {
    Line exchange;
    machine.node_ways.push_back(fit_way(calibration.ways[i], samples_of(calibration, i), machine, &exchange));
    fit->ways.push_back(exchange);
  }
  if (machine.node_ways.empty()) return;
  // One level of p - 1 short messages, of which all but one take an overhead.
  const NodeWay& shortest = machine.node_ways.front();
  std::vector<double> waiting;
  for (const Sample& sample : calibration.samples) {
    if (sample.kind != SampleKind::memory_crowded) continue;
    const auto others = static_cast<double>(sample.ranks - 1);
    waiting.push_back(sample.seconds - shortest.alpha_s - (others - 1) * shortest.overhead_s -
                      others * static_cast<double>(sample.bytes) * shortest.beta_s_per_byte);
  }
  machine.crowded_s = std::max(0.0, median(waiting));
}

}  // namespace circoll::measured
