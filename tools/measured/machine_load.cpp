#include "measured/machine_load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <sstream>

namespace circoll::measured {
namespace {

std::string text_of(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double own_seconds() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (getrusage(who, &usage) == 0) sum += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  }
  return sum;
}

std::optional<Processors> now() {
  auto processors =
      processors_from(text_of("/proc/stat"), text_of("/proc/pressure/cpu"), static_cast<double>(sysconf(_SC_CLK_TCK)));
  if (!processors) return std::nullopt;
  processors->own_s = own_seconds();
  processors->at_s = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return processors;
}

}  // namespace

std::optional<Processors> processors_from(const std::string& stat, const std::string& pressure, double in_a_second) {
  std::istringstream words(stat);
  std::string name;
  // user, nice, system, idle, iowait, irq, softirq, steal; user has the time of guests, too.
  std::array<double, 8> counts{};
  words >> name;
  for (double& count : counts) words >> count;
  if (name != "cpu" || !words) return std::nullopt;
  Processors processors;
  for (const double count : counts) processors.total_s += count / in_a_second;
  processors.busy_s = processors.total_s - (counts[3] + counts[4]) / in_a_second;
  constexpr std::string_view total = "total=";
  if (const std::size_t at = pressure.find(total); pressure.starts_with("some ") && at != std::string::npos) {
    double microseconds = 0;
    std::istringstream number(pressure.substr(at + total.size()));
    if (number >> microseconds) processors.pressure_s = microseconds * 1e-6;
  }
  return processors;
}

Load load_between(const Processors& before, const Processors& after) {
  Load load;
  const double total_s = after.total_s - before.total_s;
  const double others_s = after.busy_s - before.busy_s - (after.own_s - before.own_s);
  if (total_s > 0) load.others = std::clamp(others_s / total_s, 0.0, 1.0);
  const double elapsed_s = after.at_s - before.at_s;
  if (before.pressure_s && after.pressure_s && elapsed_s > 0) {
    load.pressure = std::clamp((*after.pressure_s - *before.pressure_s) / elapsed_s, 0.0, 1.0);
  }
  return load;
}

LoadMeter::LoadMeter() : before_(now()) {}

std::optional<Load> LoadMeter::load() const {
  const auto after = now();
  if (!before_ || !after) return std::nullopt;
  return load_between(*before_, *after);
}

}  // namespace circoll::measured
