#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "circoll/error.hpp"

namespace circoll::bench {
namespace {

struct Figures {
  double median = 0, min = 0, p95 = 0;  // seconds
};

Figures figures_of(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  const std::size_t n = seconds.size();
  const double median = n % 2 == 1 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
  return {median, seconds.front(), seconds[std::min(n - 1, n * 95 / 100)]};
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

std::string label(const Series& series) {
  return series.algorithm == "auto" ? "auto (" + series.served_by + ")" : series.algorithm;
}

std::ofstream open(const std::string& path) {
  std::ofstream file(path);
  if (!file) throw Error(ErrorCode::invalid_argument, "the file " + path + " can not be written");
  return file;
}

}  // namespace

std::string table_header() {
  return fmt::format("{:<21} {:<28} {:>5} {:>11} {:>6} {:>12} {:>12} {:>12} {:>12} {:>8} {:>8}\n", "# collective",
                     "algorithm", "p", "bytes", "reps", "median_us", "min_us", "p95_us", "algbw_GB/s", "speedup",
                     "correct");
}

std::string table_rows(const Cell& cell, int size) {
  std::string text;
  for (const Series& series : cell.series) {
    const Figures f = figures_of(series.seconds);
    text +=
        fmt::format("{:<21} {:<28} {:>5} {:>11} {:>6} {:>12.2f} {:>12.2f} {:>12.2f} {:>12.4f} {:>8.2f} {:>8}\n",
                    to_string(cell.collective), label(series), size, cell.bytes, series.seconds.size(), f.median * 1e6,
                    f.min * 1e6, f.p95 * 1e6, algorithm_bandwidth(cell, f), ratio_to_native(cell, f), series.correct);
  }
  return text;
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

void write_json(const std::string& path, const std::vector<Cell>& cells, int size, const Options& options) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Cell& cell : cells) {
    for (const Series& series : cell.series) {
      const Figures f = figures_of(series.seconds);
      rows.push_back({{"collective", to_string(cell.collective)},
                      {"algorithm", series.algorithm},
                      {"served_by", series.served_by},
                      {"p", size},
                      {"bytes", cell.bytes},
                      {"reps", series.seconds.size()},
                      {"median_us", f.median * 1e6},
                      {"min_us", f.min * 1e6},
                      {"p95_us", f.p95 * 1e6},
                      {"algbw_GBps", algorithm_bandwidth(cell, f)},
                      {"speedup", ratio_to_native(cell, f)},
                      {"correct", series.correct}});
    }
  }
  const nlohmann::ordered_json document = {{"type", to_string(options.type)},
                                           {"op", to_string(options.op)},
                                           {"root", options.root},
                                           {"p", size},
                                           {"rows", rows}};
  open(path) << document.dump(2) << "\n";
}

}  // namespace circoll::bench
