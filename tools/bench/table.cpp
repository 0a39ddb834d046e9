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
#include <optional>

#include "circoll/circoll.h"
#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "facts/median.hpp"
#include "facts/statistics.hpp"
#include "facts/text.hpp"

namespace circoll::bench {
namespace {

struct Figures {
  double median = 0, min = 0, p95 = 0;  // seconds
  ConfidenceInterval interval{};        // of the median
};

Figures figures_of(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::ranges::sort(seconds);
  return {median_of_sorted(seconds), seconds.front(), quantile(seconds, 0.95), median_interval(seconds)};
}

/// Native's median over this one's: above 1 is faster than native. Nothing if native was not measured.
std::optional<double> ratio_to_native(const Cell& cell, const Figures& own) {
  for (const Series& series : cell.series) {
    if (series.algorithm != "native" || series.seconds.empty() || own.median <= 0) continue;
    return figures_of(series.seconds).median / own.median;
  }
  return std::nullopt;
}

double algorithm_bandwidth(const Cell& cell, const Figures& own) {
  return own.median > 0 ? static_cast<double>(cell.bytes) / own.median / 1e9 : 0;
}

/// Bytes that must pass the busiest link of a rank, in one direction, per byte of `Cell::bytes`. It is the least that
/// any algorithm needs, as nccl-tests has it.
double bus_factor(Collective collective, int size) {
  const double p = size;
  // The vector that every rank gets has to be combined first.
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

// Widths of the columns of names.
constexpr std::size_t usual_width = 40, wide_width = 44;

/// The columns before those of times.
template <typename Size, typename Bytes>
std::string begin_of_row(Form form, std::string_view collective, const std::string& name, const Size& p,
                         const Bytes& bytes) {
  // The number of ranks stands in the heading.
  if (form == Form::usual)
    return fmt::format("{:<20} {:<{}} {:>10}", collective, clipped(name, usual_width), usual_width, bytes);
  return fmt::format("{:<20} {:<{}} {:>5} {:>10}", collective, name, wide_width, p, bytes);
}

/// The columns of native and auto side by side, without the bar.
template <typename Native, typename Circoll, typename Ratio>
std::string compared_columns(std::string_view collective, std::string_view bytes, const Native& native,
                             const Circoll& circoll, const Ratio& ratio) {
  return fmt::format("{:<20} {:>10} {:>11} {:>12} {:>6}", collective, bytes, native, circoll, ratio);
}

/// The series of a name, or nullptr.
const Series* series_of(const Cell& cell, std::string_view name) {
  const auto found = std::ranges::find(cell.series, name, &Series::algorithm);
  return found == cell.series.end() ? nullptr : &*found;
}

/// True where the times of a cell say nothing about the collective, because a rank may only leave.
///
/// After a barrier each rank counts from its own leaving of the barrier. Messages of a rooted collective go one way. A
/// short one lies in a buffer before its receiver has left the barrier, or soon after its sender has begun. Then nobody
/// waits, and the longest time of a rank is that of a sender who leaves. The quotient of two such times may be 52 where
/// the collectives are equally fast. The median over the ranks would be such a time, too, so these cells have no ratio.
/// With the clock the time lasts until the last rank ends, and all cells have a ratio.
bool only_leaves(const Cell& cell, Sync sync) {
  constexpr Count buffered_bytes = 16384;  // longer messages are read by the receiver or wait for it
  return sync == Sync::barrier && is_rooted(cell.collective) && cell.bytes <= buffered_bytes;
}

/// Native's median over that of auto, if both were measured and their times mean something.
std::optional<double> compared_ratio(const Cell& cell, Sync sync) {
  const Series* const served = series_of(cell, "auto");
  if (served == nullptr || served->seconds.empty() || only_leaves(cell, sync)) return std::nullopt;
  return ratio_to_native(cell, figures_of(served->seconds));
}

// The bar of a ratio has a character for each quarter of a doubling. It grows to the right where Circoll is faster.
constexpr int half_bar = 7;
std::string bar(double ratio) {
  const int length = std::clamp(static_cast<int>(std::lround(4 * std::log2(ratio))), -half_bar, half_bar);
  const auto of = [](int count, char what) { return std::string(static_cast<std::size_t>(std::max(count, 0)), what); };
  return of(half_bar + std::min(length, 0), ' ') + of(-length, '#') + "|" + of(length, '#');
}

std::string compared_row(const Cell& cell, Sync sync) {
  const auto median_us = [&](std::string_view name) {
    const Series* const series = series_of(cell, name);
    if (series == nullptr) return std::string("-");
    return series->seconds.empty() ? "late" : fmt::format("{:.2f}", figures_of(series->seconds).median * 1e6);
  };
  const std::optional<double> ratio = compared_ratio(cell, sync);
  const bool wrong = std::ranges::any_of(cell.series, [](const Series& one) { return one.correct == "NO"; });
  std::string text = compared_columns(
      to_string(cell.collective), cell.collective == Collective::barrier ? "-" : readable_bytes(cell.bytes),
      median_us("native"), median_us("auto"), ratio ? fmt::format("{:.{}f}", *ratio, *ratio < 999 ? 2 : 0) : "-");
  if (wrong) return text + "  WRONG RESULT\n";
  return text + (ratio ? "  " + bar(*ratio) : "") + "\n";
}

/// The lines that explain entries of the rows.
std::string remarks(Form form, const std::vector<Cell>& cells, Sync sync) {
  bool late = false, leaves = false;
  int right = 0, wrong = 0;
  for (const Cell& cell : cells) {
    leaves = leaves || only_leaves(cell, sync);
    for (const Series& series : cell.series) {
      late = late || series.seconds.empty();
      right += series.correct == "yes" ? 1 : 0;
      wrong += series.correct == "NO" ? 1 : 0;
    }
  }
  std::string text;
  if (late && form != Form::wide)
    text += "# late: a rank came late to every repetition; --sync barrier asks for no time\n";
  if (leaves && form != Form::wide)
    text += "# no ratio: after a barrier, ranks of a short call with a root only leave\n";
  if (wrong > 0) text += fmt::format("# WRONG: {} of {} results differ from the native ones\n", wrong, wrong + right);
  if (wrong == 0 && right > 0) text += "# all results equal the native ones\n";
  return text;
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

Form form_of(const Options& options, const std::vector<AskedCell>& cells) {
  if (options.wide) return Form::wide;
  const bool all = std::ranges::all_of(cells, [](const AskedCell& cell) {
    std::vector<std::string> names = cell.algorithms;
    std::ranges::sort(names);
    return names == std::vector<std::string>{"auto", "native"};
  });
  return all && !options.native_algorithms ? Form::compared : Form::usual;
}

std::string nothing_measured(const Series& series, bool wide) {
  const std::string repetitions = wide ? "     0 " : "";
  if (!series.refused.empty()) return repetitions + "not measured: the MPI library refuses it: " + series.refused;
  if (!wide) return "not measured: late";
  return repetitions + fmt::format(
                           "not measured: a rank came late to all {} repetitions (--sync barrier asks for no "
                           "time); correct: {}",
                           series.invalid, series.correct);
}

std::string clipped(const std::string& name, std::size_t columns) {
  constexpr std::string_view gap = "..";
  if (name.size() <= columns) return name;
  const std::size_t last = columns / 3, first = columns - last - gap.size();
  return name.substr(0, first) + std::string(gap) + name.substr(name.size() - last);
}

std::string label(const Series& series) {
  return series.algorithm == "auto" ? "auto (" + series.served_by + ")" : series.algorithm;
}

std::string table_header(Form form, const StartLine& line, Buffers buffers) {
  std::string text = fmt::format("# ranks start together by {}", to_string(line.sync()));
  if (line.sync() == Sync::clock) text += fmt::format(", to within {:.2f} us", line.clock_error() * 1e6);
  text += form == Form::wide ? "; medians with their 95 % confidence intervals" : "; medians";
  text += buffers == Buffers::rewrite ? "; data just written\n" : "\n";
  if (form == Form::compared) {
    return text + compared_columns("# collective", "size", "native [us]", "Circoll [us]", "ratio") +
           fmt::format("  {:<{}}|faster\n", "slower", half_bar);
  }
  text += begin_of_row(form, "# collective", "algorithm", "p", "bytes");
  text += form == Form::wide
              ? fmt::format(" {:>6} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}", "reps", "median_us", "low_us",
                            "high_us", "min_us", "p95_us", "algbw_GB/s", "busbw_GB/s")
              : fmt::format(" {:>11}", "median_us");
  return text + fmt::format(" {:>7} {:>7}\n", "speedup", "correct");
}

std::string without_library_algorithms(const Options& options) {
  std::string text;
  for (const Collective collective : options.collectives) {
    const std::string& why = native::offer(collective).why_none;
    if (!why.empty()) text += fmt::format("# {}: {}\n", to_string(collective), why);
  }
  return text;
}

std::string table_rows(Form form, const Cell& cell, int size, Sync sync) {
  if (form == Form::compared) return compared_row(cell, sync);
  const bool wide = form == Form::wide;
  std::string text;
  const auto begin = [&](const Series& series) {
    return begin_of_row(form, to_string(cell.collective), label(series), size, cell.bytes);
  };
  for (const Series& series : cell.series) {
    text += begin(series);
    if (series.seconds.empty()) {
      text += " " + nothing_measured(series, wide) + "\n";
      continue;
    }
    const Figures f = figures_of(series.seconds);
    if (wide) {
      const double bandwidth = algorithm_bandwidth(cell, f);
      text += fmt::format(" {:>6} {:>11.2f} {:>11.2f} {:>11.2f} {:>11.2f} {:>11.2f} {:>11.4f} {:>11.4f}",
                          series.seconds.size(), f.median * 1e6, f.interval.low * 1e6, f.interval.high * 1e6,
                          f.min * 1e6, f.p95 * 1e6, bandwidth, bandwidth * bus_factor(cell.collective, size));
    } else {
      text += fmt::format(" {:>11.2f}", f.median * 1e6);
    }
    const auto ratio = wide || !only_leaves(cell, sync) ? ratio_to_native(cell, f) : std::nullopt;
    text += fmt::format(" {:>7} {:>7}\n", ratio ? fmt::format("{:.2f}", *ratio) : "-", series.correct);
  }
  for (const Series& series : cell.refused) text += begin(series) + " " + nothing_measured(series, wide) + "\n";
  return text;
}

std::string verdict(Form form, const std::vector<Cell>& cells, Sync sync) {
  int all = 0, faster = 0;
  double logarithms = 0;
  std::vector<std::pair<double, std::string>> below_one;
  for (const Cell& cell : cells) {
    const std::optional<double> ratio = compared_ratio(cell, sync);
    if (!ratio) continue;
    ++all;
    faster += *ratio >= 1 ? 1 : 0;
    logarithms += std::log(*ratio);
    const bool has_sizes = cell.collective != Collective::barrier;
    if (*ratio < 1) {
      below_one.emplace_back(*ratio, fmt::format("{}{} {:.2f}", to_string(cell.collective),
                                                 has_sizes ? " " + readable_bytes(cell.bytes) : "", *ratio));
    }
  }
  std::string text = remarks(form, cells, sync);
  if (all == 0) return text;
  std::ranges::sort(below_one);
  constexpr std::size_t most_named = 6, columns = 80;
  std::string line = "# below 1:";
  for (std::size_t i = 0; i < std::min(below_one.size(), most_named); ++i) {
    const std::string word = " " + below_one[i].second + (i + 1 < std::min(below_one.size(), most_named) ? "," : "");
    if (line.size() + word.size() > columns) {
      text += line + "\n";
      line = "#  ";
    }
    line += word;
  }
  if (below_one.size() > most_named) line += fmt::format("\n#   and {} more", below_one.size() - most_named);
  if (!below_one.empty()) text += line + "\n";
  return text + fmt::format("# auto is faster than native in {} of {} cells, {:.2f} times in the geometric mean\n",
                            faster, all, std::exp(logarithms / all));
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
      const auto ratio = only_leaves(cell, line.sync()) ? std::nullopt : ratio_to_native(cell, f);
      rows.push_back(row_of("collective", to_string(cell.collective), series, size, cell.bytes, f));
      rows.back().update({{"median_low_us", f.interval.low * 1e6},
                          {"median_high_us", f.interval.high * 1e6},
                          {"min_us", f.min * 1e6},
                          {"p95_us", f.p95 * 1e6},
                          {"algbw_GBps", algorithm_bandwidth(cell, f)},
                          {"busbw_GBps", algorithm_bandwidth(cell, f) * bus_factor(cell.collective, size)},
                          {"speedup", ratio ? nlohmann::ordered_json(*ratio) : nullptr},
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
                                     {"between_s", options.between_s},
                                     {"spread_s", line.sync() == Sync::clock ? options.spread_s : 0.0},
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
