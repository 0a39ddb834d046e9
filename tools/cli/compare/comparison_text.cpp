// A comparison of runs, for people and for programs.
#include "paired_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "facts/text.hpp"

namespace circoll::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t columns = 80;

/// Text in lines of at most 80 columns, of which those after the first are indented.
std::string wrapped(const std::string& text) {
  std::string lines, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > columns) {
      lines += line + "\n";
      line = " ";
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + line + "\n";
}

std::string seconds(const RunTimes& times) { return times.runs == 0 ? "-" : readable_time(times.median_s); }

/// A row of at most 80 columns. A name that is too long has a line of its own.
std::string row(const std::string& what, const std::string& calls, const std::string& without, const std::string& with,
                const std::string& ratio, std::string_view answer) {
  constexpr std::size_t width = 31;
  const bool fits = what.size() <= width;
  std::string line = fmt::format("{}{:<{}}{:>9}{:>10}{:>10}{:>7}  {}", fits ? "" : what + "\n", fits ? what : "", width,
                                 calls, without, with, ratio, answer);
  return line.erase(line.find_last_not_of(' ') + 1) + "\n";
}

std::string row(const std::string& what, const std::string& calls, const RunTimes& without, const RunTimes& with,
                const Judgement& verdict, bool native = false) {
  const bool missing = verdict.change == Change::missing;
  return row(what, calls, seconds(without), seconds(with), missing ? "-" : fmt::format("{:.2f}", verdict.ratio),
             native ? "native" : to_string(verdict.change));
}

std::string name_of(const ComparedCalls& one) {
  return fmt::format("{}{}, {} ranks", one.mode == "blocking" ? "" : one.mode + " ", to_string(one.collective),
                     one.comm_size == 0 ? "unknown" : std::to_string(one.comm_size));
}

/// "1.20 times faster", of a ratio above 1 or below.
std::string times_as_fast(double ratio) {
  return ratio >= 1 ? fmt::format("{:.2f} times faster", ratio) : fmt::format("{:.2f} times slower", 1 / ratio);
}

std::string range(const ConfidenceInterval& of) {
  if (!std::isfinite(of.high) || of.low <= 0) return "";
  return fmt::format(" (ratio {:.2f} to {:.2f})", of.low, of.high);
}

/// The answer in words.
std::string verdict_in_words(const Judgement& verdict) {
  const std::string pairs = verdict.pairs == 1 ? "1 pair" : fmt::format("{} pairs", verdict.pairs);
  const auto agreeing = [&]() -> std::string {
    if (verdict.pairs == 1) return "one pair says so";
    return verdict.disagreeing == 0 ? pairs + " agree" : fmt::format("{} of {} disagree", verdict.disagreeing, pairs);
  };
  switch (verdict.change) {
    case Change::faster:
    case Change::slower:
      return fmt::format("{} with Circoll{}; {}", times_as_fast(verdict.ratio), range(verdict.interval), agreeing());
    case Change::same:
      return fmt::format("the same{}, by {}", range(verdict.interval), pairs);
    default:
      break;
  }
  if (verdict.pairs == 0) return "not decided";
  return fmt::format(
      "not decided: probably {}{}; {}",
      std::abs(std::log(verdict.ratio)) < 0.03 ? "the same within a few percent" : times_as_fast(verdict.ratio),
      range(verdict.interval), agreeing());
}

std::string waiting_in_words(const Waiting& waiting) {
  return fmt::format(
      "Waiting: natively, of {} in blocking collectives on all ranks at most {} are the collectives; the rest ranks "
      "wait for one another, which no algorithm changes.",
      readable_time(waiting.inside_s), readable_time(waiting.itself_s));
}

/// Two lines of dots, one for each run, over the times from the least to the most.
std::string dots(const RunComparison& all) {
  double least = all.pairs.front().with_s, most = least;
  for (const RunPair& pair : all.pairs) {
    least = std::min({least, pair.without_s, pair.with_s});
    most = std::max({most, pair.without_s, pair.with_s});
  }
  constexpr std::size_t width = 60;
  const auto line = [&](auto time) {
    std::string text(width, ' ');
    for (const RunPair& pair : all.pairs) {
      const double share = most > least ? (pair.*time - least) / (most - least) : 0;
      char& at = text[static_cast<std::size_t>(std::lround(share * (width - 1)))];
      at = at == ' ' ? '.' : at == '.' ? ':' : '#';
    }
    return text;
  };
  return fmt::format(
      "each run a dot, : are two and # more; from {} to {}\n  without Circoll |{}|\n  with Circoll    |{}|\n",
      readable_time(least), readable_time(most), line(&RunPair::without_s), line(&RunPair::with_s));
}

Json json_of(const RunTimes& times) {
  if (times.runs == 0) return nullptr;
  return {{"median_s", times.median_s}, {"least_s", times.least_s}, {"most_s", times.most_s}, {"runs", times.runs}};
}

Json json_of(const Judgement& verdict) {
  if (verdict.change == Change::missing || verdict.pairs == 0) return {{"answer", to_string(verdict.change)}};
  // Infinity is no number of JSON.
  const auto finite = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  return {
      {"answer", to_string(verdict.change)},   {"ratio", verdict.ratio},          {"low", finite(verdict.interval.low)},
      {"high", finite(verdict.interval.high)}, {"pairs", verdict.pairs},          {"disagreeing", verdict.disagreeing},
      {"disturbed", verdict.disturbed},        {"more_pairs", verdict.more_pairs}};
}

Json or_null(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

std::string comparison_text(const RunComparison& all, bool plot) {
  std::string text = row("", "calls", "without", "with", "ratio", "");
  text += row("program", "", all.program_without, all.program_with, all.program);
  text += row("in collectives", "", all.collectives_without, all.collectives_with, all.collectives);
  const auto percent = [](std::optional<double> share) { return share ? fmt::format("{:.1f} %", 100 * *share) : "-"; };
  text += row("  share of the program's time", "", percent(all.share_without()), percent(all.share_with()), "", "");
  int small = 0;
  for (const ComparedCalls& one : all.calls) {
    if (all.is_small(one)) {
      ++small;
      continue;
    }
    const bool native = one.calls_with > 0 && one.native_calls == one.calls_with;
    text += row("  " + name_of(one), std::to_string(one.calls_with == 0 ? one.calls : one.calls_with), one.without,
                one.with, one.verdict, native);
  }
  if (small > 0) text += fmt::format("  and {} below 1 % of the time in collectives; --json has all\n", small);
  text += "Times are medians of the runs, and means over the ranks. A ratio is of pairs.\n";
  if (plot) text += "\n" + dots(all);
  text += "\n";
  if (all.waiting && all.waiting->calls > 0 && all.share_without().value_or(1) >= 0.01) {
    text += wrapped(waiting_in_words(*all.waiting));
  }
  for (const std::string& remark : all.remarks) text += wrapped("Note: " + remark + ".");
  text += wrapped("Next: " + all.advice + ".");
  return text + wrapped("Verdict: " + verdict_in_words(all.verdict()) + ".");
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
                     {"verdict", json_of(one.verdict)}});
  }
  Json pairs = Json::array();
  for (const RunPair& pair : comparison.pairs) {
    pairs.push_back({{"without_s", pair.without_s},
                     {"with_s", pair.with_s},
                     {"others_without", pair.others_without},
                     {"others_with", pair.others_with}});
  }
  const auto& waiting = comparison.waiting;
  const Json document{
      {"circoll_comparison", 2},
      {"verdict", json_of(comparison.verdict())},
      {"program",
       {{"without", json_of(comparison.program_without)},
        {"with", json_of(comparison.program_with)},
        {"verdict", json_of(comparison.program)}}},
      {"collectives",
       {{"without", json_of(comparison.collectives_without)},
        {"with", json_of(comparison.collectives_with)},
        {"share_without", or_null(comparison.share_without())},
        {"share_with", or_null(comparison.share_with())},
        {"verdict", json_of(comparison.collectives)}}},
      {"calls", calls},
      {"pairs", pairs},
      {"waiting",
       waiting ? Json{{"calls", waiting->calls}, {"inside_s", waiting->inside_s}, {"itself_s", waiting->itself_s}}
               : Json(nullptr)},
      {"remarks", comparison.remarks},
      {"advice", comparison.advice}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace circoll::cli
