// From measured times to a machine, its ways of messages inside nodes, and how well it predicts.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "facts/median.hpp"
#include "measured/calibration.hpp"
#include "measured/measurement.hpp"
#include "model/sharing.hpp"

namespace circoll {
namespace {

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

/// Combining few bytes takes no longer than the messages' times differ.
constexpr Count least_combined_bytes = 1024;
/// No way is free, even if noise makes it look so.
constexpr double least_overhead_s = 1e-9;

/// The samples of one way.
std::vector<Sample> samples_of_way(const Calibration& calibration, std::size_t way) {
  const Count from = calibration.ways[way].from_bytes;
  const Count to =
      way + 1 < calibration.ways.size() ? calibration.ways[way + 1].from_bytes : std::numeric_limits<Count>::max();
  std::vector<Sample> inside;
  std::ranges::copy_if(calibration.samples, std::back_inserter(inside),
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

/// Gives the fit's machine the ways of a calibration, and the price of waiting where ranks outnumber processors. Needs
/// f_alpha, f_beta and gamma of the machine. Each call of a sample is one that the model prices
/// (docs/admin/calibration.md), and solved for what it is about. Coefficients are above 0 whatever the noise. Nothing
/// happens if no ways were sampled. Throws as fit_line.
void fit_ways(const Calibration& calibration, Fit* fit) {
  Machine& machine = fit->machine;
  for (std::size_t i = 0; i < calibration.ways.size(); ++i) {
    Line exchange;
    machine.node_ways.push_back(fit_way(calibration.ways[i], samples_of_way(calibration, i), machine, &exchange));
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

}  // namespace

Line fit_line(const std::vector<Sample>& samples, SampleKind kind) {
  std::vector<TimedBytes> times;
  for (const Sample& sample : samples) {
    if (sample.kind == kind) times.push_back({.bytes = sample.bytes, .seconds = sample.seconds});
  }
  const auto differs = [&](const TimedBytes& one) { return one.bytes != times.front().bytes; };
  if (std::ranges::none_of(times, differs)) {
    throw Error(ErrorCode::invalid_argument,
                "samples of at least two sizes are needed of " + std::string(to_string(kind)));
  }
  return fit_line(times);
}

Fit fit_machine(const Calibration& calibration) {
  Fit fit{.machine = {},
          .exchange = fit_line(calibration.samples, SampleKind::exchange),
          .ping_pong = fit_line(calibration.samples, SampleKind::ping_pong),
          .reduction = fit_line(calibration.samples, SampleKind::reduction)};
  fit.machine.name = calibration.name;
  const NetworkNumbers numbers = numbers_of(fit.exchange, fit.ping_pong);
  fit.machine.alpha_s = numbers.alpha_s;
  fit.machine.beta_s_per_byte = numbers.beta_s_per_byte;
  fit.machine.gamma_s_per_byte = fit.reduction.slope_s_per_byte;
  fit.machine.f_alpha = numbers.f_alpha;
  fit.machine.f_beta = numbers.f_beta;
  const bool nodes = std::ranges::any_of(calibration.samples,
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
  fit.machine.slow_hosts = slow_hosts(calibration.hosts);
  fit_ways(calibration, &fit);
  return fit;
}

std::vector<SlowHost> slow_hosts(const std::vector<HostTime>& hosts) {
  constexpr double slow = 1.5;
  std::vector<double> times;
  times.reserve(hosts.size());
  for (const HostTime& host : hosts) times.push_back(host.seconds);
  const double usual = median(times);
  std::vector<SlowHost> found;
  for (const HostTime& host : hosts) {
    if (host.seconds >= slow * usual) found.push_back({.name = host.name, .times = host.seconds / usual});
  }
  return found;
}

std::string topology_of_slow(const std::vector<SlowHost>& slow, const std::vector<HostTime>& all) {
  std::string switches, lines, others;
  std::set<std::string_view> seen;
  for (const HostTime& host : all) {
    if (!seen.insert(host.name).second) continue;
    if (std::ranges::find(slow, host.name, &SlowHost::name) == slow.end()) {
      others += (others.empty() ? "" : ",") + host.name;
    } else {
      lines += "SwitchName=slow_" + host.name + " Nodes=" + host.name + "\n";
      switches += ",slow_" + host.name;
    }
  }
  if (slow.empty() || others.empty()) return "";
  return lines + "SwitchName=others Nodes=" + others + "\nSwitchName=all Switches=others" + switches + "\n";
}

std::vector<Comparison> compare(std::string_view bench_json, const std::string& source, const Machine& machine) {
  std::vector<Comparison> result;
  for (const Measurement& row : launch_from_json(bench_json, source).rows) {
    if (row.reps == 0) continue;
    Comparison one{.collective = row.collective,
                   .algorithm = row.algorithm,
                   .served_by = row.served_by,
                   .p = row.p,
                   .bytes = row.bytes,
                   .measured_s = row.median_s};
    if (one.served_by != "native") {
      const bool by_policy = one.algorithm == "auto";
      const Count bytes = Amounts::of_measured(row.collective, one.p, one.bytes).vector_bytes();
      const Selection ran =
          completed(parse_selection(row.collective, by_policy ? one.served_by : one.algorithm), one.p, bytes, machine);
      one.served_by = ran.text();
      one.predicted_s = between_hosts(ran, one.p, bytes, machine).time_s;
    }
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace circoll
