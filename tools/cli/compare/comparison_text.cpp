// A comparison of runs, for people and for programs.
#include "paired_runs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "facts/text.hpp"

namespace circoll::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(std::optional<double> share) { return share ? fmt::format("{:.1f} %", 100 * *share) : "-"; }

/// "1.23 s (1.20 s to 1.31 s)"
std::string readable(const RunTimes& times) {
  if (times.runs == 0) return "-";
  std::string middle = readable_time(times.median_s);
  if (times.runs == 1) return middle;
  return fmt::format("{} ({} to {})", middle, readable_time(times.least_s), readable_time(times.most_s));
}

/// "1.41x faster", "same", "1.20x slower"
std::string verdict(Change change, const RunTimes& without, const RunTimes& with) {
  if (change == Change::faster && with.median_s > 0) {
    return fmt::format("{:.2f}x faster", without.median_s / with.median_s);
  }
  if (change == Change::slower && without.median_s > 0) {
    return fmt::format("{:.2f}x slower", with.median_s / without.median_s);
  }
  return change == Change::missing ? "-" : std::string(to_string(change));
}

std::string row(const std::string& what, const std::string& calls, const std::string& without, const std::string& with,
                const std::string& answer) {
  std::string line = fmt::format("{:<32} {:>10}  {:>34}  {:>34}  {}", what, calls, without, with, answer);
  return line.erase(line.find_last_not_of(' ') + 1) + "\n";
}

std::string name_of(const ComparedCalls& one) {
  return fmt::format("{}{}, {} ranks", one.mode == "blocking" ? "" : one.mode + " ", to_string(one.collective),
                     one.comm_size == 0 ? "unknown" : std::to_string(one.comm_size));
}

/// The answer in words.
std::string answer(const RunComparison& all) {
  std::string text = fmt::format("Collectives took {} natively", readable_time(all.collectives_without.median_s));
  if (const auto share = all.share_without()) text += fmt::format(", {} of the program's time,", percent(share));
  text += fmt::format(" and {} with Circoll", readable_time(all.collectives_with.median_s));
  if (const auto share = all.share_with()) text += fmt::format(", {}", percent(share));
  text += ".\n";
  const double gained_s = all.collectives_without.median_s - all.collectives_with.median_s;
  switch (all.collectives) {
    case Change::faster:
      text += fmt::format("Circoll helped: {} less in collectives", readable_time(gained_s));
      break;
    case Change::slower:
      text += fmt::format("Circoll did harm: {} more in collectives", readable_time(-gained_s));
      break;
    case Change::same:
    case Change::missing:
      text += "These runs show no difference in the time of collectives";
      break;
  }
  if (all.program != Change::missing) {
    const double program_s = all.program_without.median_s - all.program_with.median_s;
    text += all.program == Change::same ? std::string("; the program's time is the same, as far as these runs show")
                                        : fmt::format("; the program took {} {}", readable_time(std::abs(program_s)),
                                                      all.program == Change::faster ? "less" : "more");
  }
  return text + ".\n";
}

Json json_of(const RunTimes& times) {
  if (times.runs == 0) return nullptr;
  return {{"median_s", times.median_s}, {"least_s", times.least_s}, {"most_s", times.most_s}, {"runs", times.runs}};
}

Json or_null(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

std::string comparison_text(const RunComparison& comparison) {
  std::string text = row("", "calls", "without Circoll", "with Circoll", "");
  text += row("program, MPI_Init to MPI_Finalize", "", readable(comparison.program_without),
              readable(comparison.program_with),
              verdict(comparison.program, comparison.program_without, comparison.program_with));
  text += row("in collectives", "", readable(comparison.collectives_without), readable(comparison.collectives_with),
              verdict(comparison.collectives, comparison.collectives_without, comparison.collectives_with));
  text += row("  share of the program's time", "", percent(comparison.share_without()),
              percent(comparison.share_with()), "");
  for (const ComparedCalls& one : comparison.calls) {
    const std::string calls =
        one.calls == one.calls_with || one.calls_with == 0 ? std::to_string(one.calls) : std::to_string(one.calls_with);
    std::string last = verdict(one.change, one.without, one.with);
    if (one.calls_with > 0 && one.native_calls == one.calls_with) last += ", native in both";
    text += row("  " + name_of(one), calls, readable(one.without), readable(one.with), last);
  }
  text +=
      "Times are measured, and means over the ranks" +
      std::string(comparison.collectives_without.runs > 1 ? "; of several runs the median (least to most).\n" : ".\n");
  text += "\n" + answer(comparison);
  for (const std::string& remark : comparison.remarks) text += "Note: " + remark + ".\n";
  if (!comparison.advice.empty()) text += "\nWhat to do next:\n";
  for (const std::string& advice : comparison.advice) text += "  " + advice + "\n";
  return text;
}

std::string comparison_json(const RunComparison& comparison) {
  Json calls = Json::array();
  for (const ComparedCalls& one : comparison.calls) {
    calls.push_back({{"collective", to_string(one.collective)},
                     {"comm_size", one.comm_size == 0 ? Json(nullptr) : Json(one.comm_size)},
                     {"mode", one.mode},
                     {"calls_without", one.calls},
                     {"calls_with", one.calls_with},
                     {"native_calls_with", one.native_calls},
                     {"without", json_of(one.without)},
                     {"with", json_of(one.with)},
                     {"speedup", or_null(one.speedup())},
                     {"change", to_string(one.change)}});
  }
  const Json document{{"circoll_comparison", 1},
                      {"program",
                       {{"without", json_of(comparison.program_without)},
                        {"with", json_of(comparison.program_with)},
                        {"change", to_string(comparison.program)}}},
                      {"collectives",
                       {{"without", json_of(comparison.collectives_without)},
                        {"with", json_of(comparison.collectives_with)},
                        {"share_without", or_null(comparison.share_without())},
                        {"share_with", or_null(comparison.share_with())},
                        {"change", to_string(comparison.collectives)}}},
                      {"calls", calls},
                      {"remarks", comparison.remarks},
                      {"advice", comparison.advice}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace circoll::cli
