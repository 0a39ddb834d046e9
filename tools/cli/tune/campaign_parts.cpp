// The parts of a campaign's shards, and what they say together.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "for_report.hpp"

namespace circoll::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Parts {
  std::map<std::size_t, CampaignCell> cells;  ///< by their numbers in the plan
  std::vector<Launch> launches;
  int failed = 0;
  std::string failure;
};

CampaignCell cell_from(const Json& json) {
  CampaignCell cell{.collective = parse_collective(json.at("collective").get<std::string>()),
                    .p = json.at("p").get<Rank>(),
                    .bytes = json.at("bytes").get<Count>(),
                    .program_s = json.at("program_s").get<double>(),
                    .calls = json.at("calls").get<double>()};
  for (const auto& [algorithm, calls] : json.at("ran").items()) cell.ran.emplace_back(algorithm, calls.get<double>());
  require(cell.p >= 1 && cell.bytes >= 0, "a part of the campaign has a cell that cannot be");
  return cell;
}

Parts read_parts(const std::vector<std::pair<std::int64_t, std::string>>& texts) {
  Parts parts;
  for (const auto& [item, text] : texts) {
    try {
      const Json part = Json::parse(text);
      parts.cells.emplace(part.at("number").get<std::size_t>(), cell_from(part.at("cell")));
      if (part.contains("error")) {
        ++parts.failed;
        parts.failure = part.at("error").get<std::string>();
        continue;
      }
      Launch launch = launch_from_json(part.at("bench").dump(), fmt::format("part {}", item));
      launch.source = fmt::format("launch {}", part.at("launch").get<int>() + 1);
      parts.launches.push_back(std::move(launch));
    } catch (const nlohmann::json::exception& error) {
      throw Error(ErrorCode::parse, fmt::format("part {} is no measurement of a campaign: {}", item, error.what()));
    }
  }
  return parts;
}

std::string bytes_of(const CampaignCell& cell) {
  return cell.collective == Collective::barrier ? "" : ", " + readable_bytes(cell.measured_bytes());
}

std::string micro(std::optional<double> seconds) { return seconds ? fmt::format("{:.2f}", *seconds * 1e6) : "-"; }

std::string table_of(const CampaignResult& result) {
  std::string text = fmt::format("{:<40} {:>10} {:>12} {:>12} {:>12} {:>10}  {}\n", "calls of the program", "calls",
                                 "as it ran us", "native us", "fastest us", "gain", "served by");
  for (const CellGain& gain : result.gains) {
    text +=
        fmt::format("{:<40} {:>10.0f} {:>12} {:>12} {:>12} {:>10}  {}\n",
                    fmt::format("{}, {} ranks{}", to_string(gain.cell.collective), gain.cell.p, bytes_of(gain.cell)),
                    gain.cell.calls, micro(gain.ran_s), micro(gain.native_s), micro(gain.use_s),
                    gain.sure && gain.ran_s && gain.use_s ? fmt::format("{:.3g} s", gain.gained_s()) : "-", gain.use);
  }
  return text;
}

}  // namespace

std::string campaign_part(const CampaignCell& cell, const CampaignItem& item, const std::string& bench) {
  Json ran = Json::object();
  for (const auto& [algorithm, calls] : cell.ran) ran[algorithm] = calls;
  Json part{{"launch", item.launch},
            {"number", item.cell},
            {"cell",
             {{"collective", to_string(cell.collective)},
              {"p", cell.p},
              {"bytes", cell.bytes},
              {"program_s", cell.program_s},
              {"calls", cell.calls},
              {"ran", ran}}}};
  const Json measured = Json::parse(bench, nullptr, false);
  if (measured.is_object()) {
    part["bench"] = measured;
  } else {
    part["error"] = bench;
  }
  return part.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void finish_campaign(const std::vector<std::pair<std::int64_t, std::string>>& texts, const ShardedWork& work,
                     const std::string& output) {
  const Parts parts = read_parts(texts);
  if (parts.launches.empty()) {
    throw Error(ErrorCode::unsupported,
                parts.failed > 0 ? fmt::format("no launch of the bench succeeded; the last one {}", parts.failure)
                                 : "nothing was measured");
  }
  std::vector<CampaignCell> cells;
  for (const auto& [number, cell] : parts.cells) cells.push_back(cell);
  const double margin = std::strtod(work.argument("margin").c_str(), nullptr);
  const CampaignResult result =
      evaluate(cells, parts.launches, {.margin = margin, .in_every_launch = work.argument("in_every_launch") == "yes"});
  if (!result.any_sure()) {
    const std::string text = fmt::format(
        "nothing to gain: keep auto. No choice took less time than the algorithms of the program in every\n"
        "launch, by more than {:g} %. No rules are written\n",
        100 * margin);
    if (output.empty()) {
      fmt::print(stderr, "{}", text);
    } else {
      print(table_of(result) + text);
    }
    return;
  }
  double covered_s = 0;
  for (const CellGain& gain : result.gains) covered_s += gain.cell.program_s;
  const std::string about = fmt::format("the calls of {}, {} launches of {} cells; {}", work.argument("report"),
                                        parts.launches.size(), result.gains.size(), work.argument("mpi"));
  const std::string rules = rules_json(result.rules, measured_operator(parts.launches.front()), {.about = about});
  if (output.empty()) {
    print(rules);
    return;
  }
  write_file(output, rules);
  std::string text = table_of(result);
  if (parts.failed > 0) text += fmt::format("{} launches failed; the last one {}\n", parts.failed, parts.failure);
  if (result.gains.size() < cells.size()) {
    text += fmt::format(
        "{} kinds of calls have no time: a rank came late to every repetition. --sync barrier asks for no time\n",
        cells.size() - result.gains.size());
  }
  const double program_s = std::strtod(work.argument("program_s").c_str(), nullptr);
  text += fmt::format(
      "{}: rules for calls that took {} of the {} that the program spent in collectives\n"
      "estimate, from the measured times of single calls: the program would spend {} {} in them. Whether it does, the\n"
      "program says: CIRCOLL_POLICY=file:{} in a run with CIRCOLL_REPORT, then circoll compare\n",
      output, readable_time(covered_s), readable_time(program_s), readable_time(std::abs(result.gained_s)),
      result.gained_s >= 0 ? "less" : "more", output);
  print(text);
}

}  // namespace circoll::cli
