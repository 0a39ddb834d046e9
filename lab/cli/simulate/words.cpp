// Words about simulated runs: critical paths, slack, times on a network with a shape; and traces.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "circoll/error.hpp"
#include "cli/simulate/scene.hpp"
#include "facts/median.hpp"
#include "facts/text.hpp"

namespace circoll::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::pair<sim::Level, const char*>, 3> levels = {
    {{sim::Level::node, "node"}, {sim::Level::group, "group"}, {sim::Level::system, "system"}}};

/// "64 KiB in 12 messages".
std::string amount(double bytes, Count messages) {
  return fmt::format("{} in {} message{}", readable_bytes(std::llround(bytes)), messages, messages == 1 ? "" : "s");
}

std::string round_in_words(const sim::ContendedRound& round, const sim::Fabric& fabric) {
  std::string line = fmt::format("  {:>6}{:>10}{:>10}{:>10}", round.round, readable_time(round.time_s),
                                 readable_time(round.alone_s), readable_time(round.combined_s));
  if (!round.busiest) return line + fmt::format("  {} messages\n", round.messages);
  const sim::BusiestLink& link = *round.busiest;
  line += fmt::format("  {}: {}", link_name(fabric, link.link), amount(link.bytes, link.messages));
  if (link.capacity != 1) line += fmt::format(", {:.3g} of a port", link.capacity);
  return line + "\n";
}

std::string reason(const sim::PathStep& step) {
  switch (step.played.wait) {
    case sim::Wait::arrival:
      return fmt::format("as soon as rank {} is there", step.rank);
    case sim::Wait::step:
      return "after the step before";
    case sim::Wait::message:
      return fmt::format("the message of rank {} comes last", step.played.cause_rank);
    case sim::Wait::processor:
      return "waits for the processor";
    case sim::Wait::port_out:
      return step.played.cause_rank == step.rank
                 ? "waits for the port, by which it sends already"
                 : fmt::format("waits for the port, which rank {} has", step.played.cause_rank);
    case sim::Wait::port_in:
      break;
  }
  return "waits for the port, by which another message comes in";
}

}  // namespace

std::string path_in_words(const sim::Ranks& ranks, const sim::SimulatedRun& outcome, Count bytes, std::size_t most) {
  const std::vector<sim::PathStep> path = critical_path(outcome);
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path.size() > most && i == most / 2) {
      text += fmt::format("  ... {} more steps ...\n", path.size() - most);
      i += path.size() - most;
    }
    const sim::PathStep& step = path[i];
    text += fmt::format("{:>9} {:>9}  rank {} {}; {}\n", readable_time(step.played.begin_s),
                        readable_time(step.played.end_s), step.rank,
                        describe(ranks, step.rank, step.step, static_cast<double>(bytes)), reason(step));
  }
  return text;
}

std::string slack_in_words(const sim::SimulatedRun& outcome) {
  // Sums of the same times in another order differ in their last bits.
  const double nothing = 1e-9 * outcome.time_s;
  const auto line = [&](const char* what, const char* may, std::vector<double> slack) {
    if (slack.empty()) return std::string{};
    std::ranges::sort(slack);
    const auto none = std::ranges::upper_bound(slack, nothing) - slack.begin();
    return fmt::format("  slack of {}: {} of {} have none; {} {} (median) to {} later\n", what, none, slack.size(), may,
                       readable_time(median_of_sorted(slack)), readable_time(slack.back()));
  };
  return line("ranks", "they may arrive", outcome.arrival_slack_s) + line("steps", "they may end", outcome.slack_s);
}

std::string trace_of(const sim::Ranks& ranks, const sim::SimulatedRun& outcome, Count bytes, const std::string& title) {
  require(!outcome.first_step.empty(), "a trace needs an outcome with every step");
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  const auto out = std::back_inserter(text);
  fmt::format_to(out, R"({{"ph": "M", "pid": 0, "name": "process_name", "args": {{"name": {}}}}})",
                 nlohmann::json(title).dump());
  for (Rank r = 0; r < ranks.size(); ++r) {
    fmt::format_to(out,
                   ",\n"
                   R"({{"ph": "M", "pid": 0, "tid": {}, "name": "thread_name", "args": {{"name": "rank {}"}}}})",
                   r, r);
    const std::size_t first = outcome.first_step[static_cast<std::size_t>(r)];
    for (std::size_t i = first; i < outcome.first_step[static_cast<std::size_t>(r) + 1]; ++i) {
      const sim::PlayedStep& step = outcome.played[i];
      fmt::format_to(out,
                     ",\n"
                     R"({{"ph": "X", "pid": 0, "tid": {}, "ts": {:.6f}, "dur": {:.6f}, "name": "{}"}})",
                     r, step.begin_s * 1e6, (step.end_s - step.begin_s) * 1e6,
                     describe(ranks, r, static_cast<StepIndex>(i - first), static_cast<double>(bytes)));
      if (step.sender < 0) continue;
      const sim::PlayedStep& sent =
          outcome.played[outcome.first_step[static_cast<std::size_t>(step.sender)] + step.sender_step];
      fmt::format_to(out,
                     ",\n"
                     R"({{"ph": "s", "id": {}, "pid": 0, "tid": {}, "ts": {:.6f}, "name": "message"}})",
                     i, step.sender, sent.begin_s * 1e6);
      fmt::format_to(out,
                     ",\n"
                     R"({{"ph": "f", "bp": "e", "id": {}, "pid": 0, "tid": {}, "ts": {:.6f}, "name": "message"}})",
                     i, r, step.end_s * 1e6);
    }
  }
  return text + "\n]}\n";
}

std::string network_in_words(const SimulateOptions& options, const sim::Fabric& fabric) {
  return fmt::format("{}, {}, {} on a node", fabric.topology->text(), options.placement,
                     options.cores == 1 ? "1 rank" : fmt::format("at most {} ranks", options.cores));
}

std::string contention_in_words(const sim::Contention& contention, const sim::Fabric& fabric, std::size_t most) {
  std::string text = fmt::format("  time {}; {} if no two messages shared a link", readable_time(contention.time_s),
                                 readable_time(contention.alone_s));
  text += contention.alone_s > 0 ? fmt::format(": {:.2f} times\n", contention.time_s / contention.alone_s) : "\n";
  for (const auto& [level, name] : levels) {
    const std::string_view words = fabric.topology->level_name(level);
    const auto i = static_cast<std::size_t>(level);
    if (words.empty()) continue;
    text += fmt::format("  {}: {}\n", words, amount(contention.bytes[i], contention.messages[i]));
  }
  const Count far = contention.messages[1] + contention.messages[2];
  if (far > 0 && fabric.topology->links() > 0) {
    text += fmt::format("  links between switches on the way of a message between nodes: {:.2f}\n",
                        static_cast<double>(contention.hops) / static_cast<double>(far));
  }
  if (contention.rounds.empty()) return text;
  text += fmt::format("  {:>6}{:>10}{:>10}{:>10}  {}\n", "round", "time", "alone", "combining", "busiest link");
  for (std::size_t i = 0; i < contention.rounds.size(); ++i) {
    if (contention.rounds.size() > most && i == most / 2) {
      text += fmt::format("  ... {} more rounds ...\n", contention.rounds.size() - most);
      i += contention.rounds.size() - most;
    }
    text += round_in_words(contention.rounds[i], fabric);
  }
  return text;
}

void add_contention(ordered_json& json, const sim::Contention& contention, const sim::Fabric& fabric) {
  json["time_s"] = contention.time_s;
  json["alone_s"] = contention.alone_s;
  json["hops"] = contention.hops;
  for (const auto& [level, name] : levels) {
    const auto i = static_cast<std::size_t>(level);
    json["levels"][name] = {{"bytes", contention.bytes[i]}, {"messages", contention.messages[i]}};
  }
  json["rounds"] = ordered_json::array();
  for (const sim::ContendedRound& round : contention.rounds) {
    ordered_json one = {{"round", round.round},          {"messages", round.messages}, {"bytes", round.bytes},
                        {"longest", round.longest},      {"time_s", round.time_s},     {"alone_s", round.alone_s},
                        {"combined_s", round.combined_s}};
    if (round.busiest) {
      one["busiest"] = {{"link", link_name(fabric, round.busiest->link)},
                        {"bytes", round.busiest->bytes},
                        {"messages", round.busiest->messages},
                        {"capacity", round.busiest->capacity}};
    }
    json["rounds"].push_back(std::move(one));
  }
}

}  // namespace circoll::cli
