// The report for a person.
#include <fmt/format.h>

#include <algorithm>

#include "facts/text.hpp"
#include "interpose/ledger.hpp"
#include "interpose/report.hpp"

namespace circoll::interpose {
namespace {

constexpr std::size_t columns = 100;
/// Rows whose calls took less than this share of the time in collectives are not shown.
constexpr double least_share = 0.01;

/// "12.3us"
std::string readable(std::optional<double> seconds) { return seconds ? readable_time(*seconds, "") : "-"; }

/// A line of the report without trailing spaces.
void add_line(std::string& text, const std::string& line) {
  const std::string whole = "circoll: " + line;
  text.append(whole, 0, whole.find_last_not_of(' ') + 1).append("\n");
}

constexpr std::size_t left_aligned = 2;  // the names; the other columns are numbers

void widen(Report::Widths& widths, const Report::Cells& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
}

void add_row(std::string& text, const Report::Widths& widths, const Report::Cells& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += i < left_aligned ? fmt::format("{:<{}} ", cells[i], widths[i] + 1)
                             : fmt::format("{:>{}} ", cells[i], widths[i]);
  }
  add_line(text, line);
}

}  // namespace

Report::Cells Report::cells_of(Estimator& estimator, const Key& key, const Row& row) const {
  const auto& [ranks, mode, collective, algorithm, reason] = key;
  const Predicted predicted = predict(estimator, key, row);
  const std::string own = row.own.ranks == 0 ? "-"
                                             : fmt::format("{:.2f}/{:.2f}", row.own.sum_call_s / row.own.ranks * 1e6,
                                                           row.own.max_call_s * 1e6);
  return {std::string(to_string(collective)),
          algorithm,
          std::to_string(row.sum.calls),
          std::to_string(row.sum.bytes),
          readable(row.sum.seconds),
          readable(predicted.seconds),
          readable(predicted.native ? std::optional(predicted.native->seconds) : std::nullopt),
          own};
}

void Report::add_sizes_to(std::string& text, const Row& row) {
  const SizeClass* busiest = nullptr;
  std::string sizes = "    sizes ";
  for (const auto& [size_class, entry] : row.classes) {
    const std::string item = fmt::format(" {}:{}", exact_number(least_bytes(size_class)), entry.sum.calls);
    if (sizes.size() + item.size() + sizeof("circoll: ") > columns) {
      add_line(text, sizes);
      sizes = "          ";
    }
    sizes += item;
    if (busiest == nullptr || entry.sum.calls > busiest->sum.calls) busiest = &entry;
  }
  add_line(text, sizes);
  // The reasons of a row name the same policy. The reason of the commonest size stands for all.
  add_line(text, "    why    " + busiest->why);
}

// The whole duration of calls counts, so that a nonblocking call for which the program waits is no small one.
bool Report::is_small(const Row& row) const { return row.sum.all_seconds < least_share * all_inside_s_; }

std::string Report::text() const {
  Estimator estimator(facts_.machine, facts_.library, facts_.node.all, facts_.node.crowded);
  std::string text;
  add_line(text, fmt::format("{} {} of MPI_COMM_WORLD, {}; the model is of machine '{}'", facts_.ranks,
                             facts_.ranks == 1 ? "rank" : "ranks", facts_.mpi, facts_.machine.name));
  add_line(text, "messages inside nodes: " + inside_nodes());
  if (!facts_.profile.empty()) add_line(text, "profile: " + facts_.profile);
  if (!facts_.topology.empty()) add_line(text, "topology: " + facts_.topology);
  if (!facts_.network.empty()) add_line(text, "network: " + facts_.network);
  if (!facts_.devices.empty()) {
    add_line(text,
             "memory of GPUs: ranks agree about it in each call, since " + facts_.devices + "; docs/user/served.md");
  }
  add_line(text, "calls, bytes, sizes: of all ranks. time: measured, on the slowest rank. model: predicted");
  add_line(text, "own/call: Circoll's own work [us], mean/max over the ranks; docs/user/reports.md");
  const Cells heading{"collective", "served by", "calls", "bytes", "time", "model", "model(native)", "own/call"};
  Widths widths{};
  widen(widths, heading);
  std::map<Key, Cells> cells;
  for (const auto& [key, row] : rows_) {
    if (!is_small(row)) widen(widths, cells[key] = cells_of(estimator, key, row));
  }
  std::optional<std::tuple<Rank, Mode>> section;
  int small_rows = 0;
  std::int64_t their_calls = 0;
  for (const auto& [key, row] : rows_) {
    const auto& [ranks, mode, collective, algorithm, reason] = key;
    if (is_small(row)) {
      ++small_rows;
      their_calls += row.sum.calls;
      continue;
    }
    if (section != std::tuple(ranks, mode)) {
      section = {ranks, mode};
      add_line(text, {});
      add_line(text, fmt::format("communicators of {} {}, {} calls", ranks == 0 ? "unknown" : std::to_string(ranks),
                                 ranks == 0   ? "size"
                                 : ranks == 1 ? "rank"
                                              : "ranks",
                                 to_string(mode)));
      add_row(text, widths, heading);
    }
    add_row(text, widths, cells[key]);
    add_sizes_to(text, row);
  }
  if (small_rows > 0) {
    add_line(text, {});
    add_line(text,
             fmt::format("and {} more {} below 1 % of the time in collectives, with {} {}; JSON has all", small_rows,
                         small_rows == 1 ? "row" : "rows", their_calls, their_calls == 1 ? "call" : "calls"));
  }
  if (facts_.learned) {
    add_line(text, {});
    for (const std::string& line : facts_.learned->lines) add_line(text, line);
  }
  add_line(text, {});
  for (const std::string& line : summary()) add_line(text, line);
  return text;
}

}  // namespace circoll::interpose
