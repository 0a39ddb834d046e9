// The parts of a campaign's shards, and what they say together.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "for_report.hpp"
#include "measured/profile.hpp"
#include "select/text_file.hpp"
#include "tune/profile_file.hpp"

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
                    .calls = json.at("calls").get<double>(),
                    .between_s = json.at("between_s").get<double>(),
                    .spread_s = json.at("spread_s").get<double>()};
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
  std::string text = fmt::format(
      "measured by themselves, with work between calls as in the program:\n{:<34} {:>9} {:>9} "
      "{:>9}  {}\n",
      "calls of the program", "today us", "native us", "best us", "rule");
  for (const CellGain& gain : result.gains) {
    const std::string best = gain.fastest == "auto" ? "today's is the best" : "none: " + gain.fastest + " is not sure";
    text +=
        fmt::format("{:<34} {:>9} {:>9} {:>9}  {}\n",
                    fmt::format("{}, {} ranks{}", to_string(gain.cell.collective), gain.cell.p, bytes_of(gain.cell)),
                    micro(gain.today_s), micro(gain.native_s), micro(gain.fastest_s), gain.sure() ? gain.use : best);
  }
  return text;
}

/// The profile that the rules go into, before it has them: the file, or what is used today.
std::string text_before(const std::string& file, const select::FoundProfile& today) {
  std::error_code none;
  if (!std::filesystem::exists(file, none)) return today.text;
  try {
    std::string text = select::read_text_file(file);
    (void)select::make_profile_policy(text, file, {});
    return text;
  } catch (const Error&) {
    return today.text;  // it is moved away when the profile is written
  }
}

/// The outcome of runs of the program, in words.
std::string in_words(const RunComparison& runs) {
  const double ratio = runs.program_with.median_s > 0 ? runs.program_without.median_s / runs.program_with.median_s : 0;
  return fmt::format("{} in {} pairs of runs", speed_text(ratio), runs.program_with.runs);
}

/// Writes the rules, unless the program is not faster with them. The result tells it.
std::string store_rules(measured::ProgramPart part, const std::string& output, const TuneForOptions* options) {
  const select::FoundProfile today = profile_of_today(part.key.library);
  const std::string begin = today.head.key == part.key ? today.text : "";
  const std::string file = profile_file(output, part.key);
  const bool tries = options != nullptr && !options->program.empty();
  if (tries) {
    const RunComparison runs = try_rules(*options, measured::without_program(begin, part.key, part.program.name),
                                         measured::merged_profile(text_before(file, today), part));
    part.program.tried = in_words(runs);
    if (runs.verdict().change != Change::faster) {
      return fmt::format("The program is not surely faster with these rules: {}.\nNothing is written: keep auto\n",
                         part.program.tried);
    }
  }
  const measured::StoredProfile stored = measured::store_profile(file, part, begin);
  std::string text;
  if (!stored.damaged.empty()) text += fmt::format("what was there was no profile, and is {} now\n", stored.damaged);
  text += fmt::format("{}: rules for '{}'\n", stored.file, part.program.name);
  text += tries
              ? fmt::format("With them the program is {}.\n", part.program.tried)
              : "The program was not run with them. 'circoll tune --for REPORT -- PROGRAM' does so before it writes.\n";
  return text + use_of(stored.file);
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
              {"between_s", cell.between_s},
              {"spread_s", cell.spread_s},
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
                     const std::string& output, const TuneForOptions* options) {
  const Parts parts = read_parts(texts);
  if (parts.launches.empty()) {
    throw Error(ErrorCode::unsupported,
                parts.failed > 0 ? fmt::format("no launch of the bench succeeded; the last one {}", parts.failure)
                                 : "nothing was measured");
  }
  std::vector<CampaignCell> cells;
  for (const auto& [number, cell] : parts.cells) cells.push_back(cell);
  const double margin = std::strtod(work.argument("margin").c_str(), nullptr);
  const Launch& first = parts.launches.front();
  const RuleOperator op = measured_operator(first);
  const CampaignResult result = evaluate(cells, parts.launches, op, margin);
  std::string text = table_of(result);
  if (parts.failed > 0) text += fmt::format("{} launches failed; the last one {}\n", parts.failed, parts.failure);
  if (result.gains.size() < cells.size()) {
    text += fmt::format(
        "{} kinds of calls have no time: a rank came late to every repetition. --sync barrier asks for no time\n",
        cells.size() - result.gains.size());
  }
  if (result.rules.empty()) {
    return print(text + fmt::format("nothing to gain: keep auto. No choice was faster than today's in every launch, by "
                                    "more\nthan noise and {:g} %. Nothing is written\n",
                                    100 * margin));
  }
  double covered_s = 0;
  for (const CellGain& gain : result.gains) covered_s += gain.sure() ? gain.cell.program_s : 0;
  print(text + fmt::format("The rules are for calls that took {} of the {} in collectives. An estimate of the gain,\n"
                           "from the times of single calls: {}\n",
                           readable_time(covered_s),
                           readable_time(std::strtod(work.argument("program_s").c_str(), nullptr)),
                           readable_time(result.gained_s)));
  std::set<std::string> launches;
  for (const Launch& launch : parts.launches) launches.insert(launch.source);
  print(store_rules({.key = {.library = first.library, .processor = first.processor},
                     .program = {.name = work.argument("program"),
                                 .report = work.argument("report"),
                                 .launches = static_cast<Count>(launches.size()),
                                 .circoll = work.version,
                                 .date = today(),
                                 .host = first.host},
                     .op = op,
                     .cells = result.rules},
                    output, options));
}

}  // namespace circoll::cli
