// Repairs of failures, beside a restart among the survivors.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "circoll/collectives.hpp"
#include "circoll/text.hpp"
#include "cli/faults/failures.hpp"
#include "commands.hpp"
#include "facts/text.hpp"
#include "faults/faults_json.hpp"

namespace circoll::cli {
namespace {

using nlohmann::ordered_json;

/// The number of a rank among the survivors.
Rank renumbered(Rank rank, const std::vector<Rank>& failed) {
  return rank - std::count_if(failed.begin(), failed.end(), [&](Rank f) { return f < rank; });
}

void find_restart(WayOn& way, const FailureRequest& request, Count bytes, const Machine& machine) {
  const Collective collective = request.selection.collective;
  const bool root_failed =
      is_rooted(collective) && std::find(way.failed.begin(), way.failed.end(), request.root) != way.failed.end();
  if (root_failed) {
    way.no_restart = "the root has failed";
    return;
  }
  if (request.in_place && way.k > 0) {
    way.no_restart = "in place: contributions may have been overwritten";
    return;
  }
  const auto survivors = request.size - static_cast<Rank>(way.failed.size());
  // The blocks of the failed ranks are left out.
  const bool one_vector = has_one_vector(collective);
  const Count left = one_vector ? bytes : bytes / request.size * survivors;
  const std::vector<Ranked> ranking = rank_algorithms(collective, survivors, left, {.commutative = true}, machine,
                                                      renumbered(is_rooted(collective) ? request.root : 0, way.failed));
  if (ranking.empty() || !ranking.front().unmet_need.empty()) {
    way.no_restart = "no algorithm serves the survivors";
    return;
  }
  way.restart = with_params(ranking.front().selection);
  way.restart_s = ranking.front().time_s;
}

std::string advice_of(const WayOn& way) {
  const bool can_repair = way.repair.goal != FailureClass::none;
  if (can_repair && way.repair.cost.rounds == 0) return "nothing";
  if (can_repair && (way.restart.empty() || way.repair_s <= way.restart_s)) return "repair";
  return way.restart.empty() ? "lost" : "restart";
}

}  // namespace

std::vector<WayOn> find_ways_on(const FailureRequest& request, Count bytes, const Machine& machine) {
  const FaultAnalysis analysis = analysis_of(request);
  std::vector<WayOn> ways;
  for (const std::uint32_t k : rounds_of(request, analysis)) {
    for (const std::vector<Rank>& failed : request.failures) {
      WayOn way{.failed = failed, .k = k, .repair = analysis.repair_after(k, failed)};
      if (way.repair.goal != FailureClass::none) way.repair_s = seconds(terms_of(way.repair, bytes), machine);
      find_restart(way, request, bytes, machine);
      way.advice = advice_of(way);
      ways.push_back(std::move(way));
    }
  }
  return ways;
}

std::string ways_on_table(const FailureRequest& request, Count bytes, const Machine& machine,
                          const std::vector<WayOn>& ways) {
  std::string text =
      fmt::format("{}, p = {}, keep = {}{}, {} on {}\n", subject_of(request), request.size, to_string(request.keep),
                  request.in_place ? ", in place" : "", readable_bytes(bytes), machine.name);
  text += fmt::format("{:>4}  {:<8}{:<7}{:>7}{:>8}{:>12}{:>12}  {:<8} {}\n", "k", "failed", "gives", "pieces", "rounds",
                      "repair", "restart", "advice", "restart by");
  for (const WayOn& way : ways) {
    const bool can = way.repair.goal != FailureClass::none;
    text +=
        fmt::format("{:>4}  {:<8}{:<7}{:>7}{:>8}{:>12}{:>12}  {:<8} {}\n", way.k,
                    fmt::format("{}", fmt::join(way.failed, ",")), to_string(way.repair.goal),
                    can ? std::to_string(way.repair.pieces) : "-", can ? std::to_string(way.repair.cost.rounds) : "-",
                    can ? readable_time(way.repair_s) : "-", way.restart.empty() ? "-" : readable_time(way.restart_s),
                    way.advice, way.restart.empty() ? way.no_restart : way.restart);
  }
  for (const WayOn& way : ways) {
    if (way.advice == "lost")
      text += fmt::format("k = {}, failed {}: {}\n", way.k, fmt::join(way.failed, ","), way.repair.why);
  }
  const bool partly = std::any_of(ways.begin(), ways.end(), [](const WayOn& w) { return w.repair.missing > 0; });
  if (partly) text += "Blocks that only failed ranks contributed to are left as they are.\n";
  if (ways.size() == 1) {
    for (const Schedule& s : ways.front().repair.ranks) text += "\n" + to_text(s);
  }
  return text;
}

std::string ways_on_json(const FailureRequest& request, Count bytes, const Machine& machine,
                         const std::vector<WayOn>& ways) {
  ordered_json json = head_of(request);
  json.update({{"bytes", bytes}, {"machine", machine.name}});
  json["ways_on"] = ordered_json::array();
  for (const WayOn& way : ways) {
    const Repair& r = way.repair;
    ordered_json entry{
        {"failed", way.failed}, {"k", way.k}, {"gives", to_string(way.repair.goal)}, {"advice", way.advice}};
    entry["repair"] = ordered_json::object();
    if (r.goal != FailureClass::none) entry["repair"]["time_s"] = way.repair_s;
    entry["repair"].update(as_json(r));
    if (way.restart.empty()) {
      entry["restart"] = {{"why_not", way.no_restart}};
    } else {
      entry["restart"] = {{"time_s", way.restart_s}, {"id", way.restart}};
    }
    json["ways_on"].push_back(std::move(entry));
  }
  return json.dump(2) + "\n";
}

}  // namespace circoll::cli
