// Tables for people, and files for programs.
#include "table.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "circoll/circoll.h"
#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "facts/median.hpp"
#include "facts/text.hpp"
#include "measured/statistics.hpp"

namespace circoll::bench {
namespace {

struct Figures {
  double median = 0, min = 0, p95 = 0;  // seconds
  Interval interval{};                  // of the median
};

Figures figures_of(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::ranges::sort(seconds);
  return {median_of_sorted(seconds), seconds.front(), quantile(seconds, 0.95), median_interval(seconds)};
}

/// Native's median over this one's: above 1 is faster than native. 0 if native was not measured.
double ratio_to_native(const Cell& cell, const Figures& own) {
  for (const Series& series : cell.series) {
    if (series.algorithm == "native" && own.median > 0) return figures_of(series.seconds).median / own.median;
  }
  return 0;
}

double algorithm_bandwidth(const Cell& cell, const Figures& own) {
  return own.median > 0 ? static_cast<double>(cell.bytes) / own.median / 1e9 : 0;
}

/// Bytes that must pass the busiest link of a rank, in one direction, per byte of `Cell::bytes`. It is the least that
/// any algorithm needs, as nccl-tests has it.
double bus_factor(Collective collective, int size) {
  const double p = size;
  // What every rank gets has to be combined first.
  if (collective == Collective::allreduce) return 2 * (p - 1) / p;
  switch (traits_of(collective).blocks) {
    case Blocks::per_rank:
      return p - 1;
    case Blocks::per_pair:
      return (p - 1) / p;
    case Blocks::one:
      break;
  }
  return size > 1 ? 1 : 0;
}

/// The width of the column of names: those of the MPI library's own algorithms are long.
int name_width(bool longer) { return longer ? 44 : 32; }

bool has_longer_names(const std::vector<Series>& series) {
  return std::ranges::any_of(series, [](const Series& one) { return native::names_library(one.algorithm); });
}

std::string label(const Series& series) {
  return series.algorithm == "auto" ? "auto (" + series.served_by + ")" : series.algorithm;
}

/// The columns before those of times.
template <typename Size, typename Bytes>
std::string begin_of_row(std::string_view collective, const std::string& algorithm, int width, const Size& p,
                         const Bytes& bytes) {
  return fmt::format("{:<20} {:<{}} {:>5} {:>10}", collective, algorithm, width, p, bytes);
}

/// The columns that rows of all kinds have, behind the one that says what was measured.
nlohmann::ordered_json row_of(const char* kind, std::string_view what, const Series& series, int size, Count bytes,
                              const Figures& figures) {
  return {{kind, what},
          {"algorithm", series.algorithm},
          {"served_by", series.served_by},
          {"p", size},
          {"bytes", bytes},
          {"reps", series.seconds.size()},
          {"warm_up", series.warm_up},
          {"invalid", series.invalid},
          {"median_us", figures.median * 1e6}};
}

nlohmann::ordered_json sides_of(const std::vector<GuidelineCell>& guidelines, int size) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const GuidelineCell& cell : guidelines) {
    for (std::size_t i = 0; i < cell.series.size(); ++i) {
      const Series& series = cell.series[i];
      if (series.seconds.empty()) continue;
      rows.push_back(row_of("side", cell.sides[i], series, size, cell.bytes, figures_of(series.seconds)));
    }
  }
  return rows;
}

nlohmann::ordered_json inside(const Surroundings& here) {
  return {{"ranks", here.neighbours}, {"by_memory", here.by_memory}, {"read_directly", here.read_directly},
          {"crowded", here.crowded},  {"reason", here.reason},       {"reading_reason", here.reading_reason}};
}

nlohmann::ordered_json devices_of(const Surroundings& here) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const DeviceRuntime& one : here.devices) rows.push_back({{"name", one.name}, {"unused", one.unused}});
  return rows;
}

std::ofstream open(const std::string& path) {
  std::ofstream file(path);
  if (!file) throw Error(ErrorCode::invalid_argument, "the file " + path + " cannot be written");
  return file;
}

/// The present time in UTC, as ISO 8601 has it.
std::string date() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

std::string heading(int size) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  int length = 0;
  PMPI_Get_processor_name(host.data(), &length);
  return fmt::format("# Circoll {} with {}: {} {}, rank 0 on {}, {}\n", circoll_version(), native::library_version(),
                     size, size == 1 ? "rank" : "ranks", host.data(), date());
}

std::string nothing_measured(const Series& series) {
  if (!series.refused.empty()) return "     0 not measured: the MPI library refuses it: " + series.refused;
  return fmt::format(
      "     0 not measured: a rank came late to all {} repetitions (--sync barrier asks for no time); correct: {}",
      series.invalid, series.correct);
}

std::string table_header(const Options& options, const StartLine& line) {
  std::string text = fmt::format("# ranks start together by {}", to_string(line.sync()));
  if (line.sync() == Sync::clock) text += fmt::format(", to within {:.2f} us", line.clock_error() * 1e6);
  return text + fmt::format("; medians with their 95 % confidence intervals\n") +
         begin_of_row("# collective", "algorithm", name_width(options.native_algorithms), "p", "bytes") +
         (options.wide ? fmt::format(" {:>6} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}", "reps", "median_us",
                                     "low_us", "high_us", "min_us", "p95_us", "algbw_GB/s", "busbw_GB/s")
                       : fmt::format(" {:>11}", "median_us")) +
         fmt::format(" {:>7} {:>7}\n", "speedup", "correct");
}

std::string without_library_algorithms(const Options& options) {
  std::string text;
  for (const Collective collective : options.collectives) {
    const std::string& why = native::offer(collective).why_none;
    if (!why.empty()) text += fmt::format("# {}: {}\n", to_string(collective), why);
  }
  return text;
}

std::string table_rows(const Options& options, const Cell& cell, int size) {
  std::string text;
  const int width = name_width(has_longer_names(cell.series) || has_longer_names(cell.refused));
  const auto begin = [&](const Series& series) {
    return begin_of_row(to_string(cell.collective), label(series), width, size, cell.bytes);
  };
  for (const Series& series : cell.series) {
    text += begin(series);
    if (series.seconds.empty()) {
      text += " " + nothing_measured(series) + "\n";
      continue;
    }
    const Figures f = figures_of(series.seconds);
    if (options.wide) {
      const double bandwidth = algorithm_bandwidth(cell, f);
      text += fmt::format(" {:>6} {:>11.2f} {:>11.2f} {:>11.2f} {:>11.2f} {:>11.2f} {:>11.4f} {:>11.4f}",
                          series.seconds.size(), f.median * 1e6, f.interval.low * 1e6, f.interval.high * 1e6,
                          f.min * 1e6, f.p95 * 1e6, bandwidth, bandwidth * bus_factor(cell.collective, size));
    } else {
      text += fmt::format(" {:>11.2f}", f.median * 1e6);
    }
    text += fmt::format(" {:>7.2f} {:>7}\n", ratio_to_native(cell, f), series.correct);
  }
  for (const Series& series : cell.refused) text += begin(series) + " " + nothing_measured(series) + "\n";
  return text;
}

std::string verdict(const std::vector<Cell>& cells) {
  int all = 0, faster = 0;
  double logarithms = 0;
  std::vector<std::pair<double, std::string>> slower;
  for (const Cell& cell : cells) {
    const auto served = std::ranges::find(cell.series, "auto", &Series::algorithm);
    if (served == cell.series.end() || served->seconds.empty()) continue;
    const double ratio = ratio_to_native(cell, figures_of(served->seconds));
    if (ratio <= 0) continue;
    ++all;
    faster += ratio >= 1 ? 1 : 0;
    logarithms += std::log(ratio);
    const bool has_sizes = cell.collective != Collective::barrier;
    if (ratio < 1) {
      slower.emplace_back(ratio, fmt::format("{}{} {:.2f}", to_string(cell.collective),
                                             has_sizes ? " " + readable_bytes(cell.bytes) : "", ratio));
    }
  }
  if (all == 0) return {};
  std::string text = fmt::format("# auto is faster than native in {} of {} cells, {:.2f} times in the geometric mean",
                                 faster, all, std::exp(logarithms / all));
  std::ranges::sort(slower);
  constexpr std::size_t most_named = 6;
  for (std::size_t i = 0; i < std::min(slower.size(), most_named); ++i)
    text += (i == 0 ? "\n# slower: " : ", ") + slower[i].second;
  if (slower.size() > most_named) text += fmt::format(", and {} more", slower.size() - most_named);
  return text + "\n";
}

void write_csv(const std::string& path, const std::vector<Cell>& cells, int size) {
  std::ofstream file = open(path);
  file << "collective,algorithm,served_by,p,bytes,repetition,seconds\n";
  for (const Cell& cell : cells) {
    for (const Series& series : cell.series) {
      for (std::size_t i = 0; i < series.seconds.size(); ++i) {
        file << fmt::format("{},\"{}\",{},{},{},{},{:.9f}\n", to_string(cell.collective), series.algorithm,
                            series.served_by, size, cell.bytes, i, series.seconds[i]);
      }
    }
  }
}

void write_json(const std::string& path, const std::vector<Cell>& cells, int size, const Options& options,
                const StartLine& line, const Surroundings& here, const std::vector<GuidelineCell>& guidelines) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Cell& cell : cells) {
    for (const Series& series : cell.series) {
      if (series.seconds.empty()) continue;
      const Figures f = figures_of(series.seconds);
      rows.push_back(row_of("collective", to_string(cell.collective), series, size, cell.bytes, f));
      rows.back().update({{"median_low_us", f.interval.low * 1e6},
                          {"median_high_us", f.interval.high * 1e6},
                          {"min_us", f.min * 1e6},
                          {"p95_us", f.p95 * 1e6},
                          {"algbw_GBps", algorithm_bandwidth(cell, f)},
                          {"busbw_GBps", algorithm_bandwidth(cell, f) * bus_factor(cell.collective, size)},
                          {"speedup", ratio_to_native(cell, f)},
                          {"correct", series.correct}});
    }
  }
  nlohmann::ordered_json document = {{"circoll", circoll_version()},
                                     {"date", date()},
                                     {"type", to_string(options.type)},
                                     {"op", to_string(options.op)},
                                     {"root", options.root},
                                     {"p", size},
                                     {"sync", to_string(line.sync())},
                                     {"buffers", to_string(options.buffers)},
                                     {"clock_error_us", line.clock_error() * 1e6},
                                     {"policy", options.policy},
                                     {"mpi", native::library_version()},
                                     {"seed", options.seed},
                                     {"library", here.library},
                                     {"processor", here.processor},
                                     {"host", here.host},
                                     {"inside_nodes", inside(here)},
                                     {"device_runtimes", devices_of(here)},
                                     {"rows", rows}};
  if (!guidelines.empty()) document["sides"] = sides_of(guidelines, size);
  open(path) << document.dump(2) << "\n";
}

}  // namespace circoll::bench
