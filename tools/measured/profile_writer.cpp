// Writes profiles: new ones, and into those that are there, as a whole and by one process at a time.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "circoll/error.hpp"
#include "facts/files.hpp"
#include "measured/one_line.hpp"
#include "measured/profile.hpp"
#include "select/text_file.hpp"

namespace circoll::measured {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json json_of(const select::ProfileRanks& ranks) {
  Json json = {{"ranks", ranks.ranks}};
  if (ranks.crowded) json["crowded"] = true;
  json.update({{"processors", ranks.processors},
               {"launches", ranks.launches},
               {"circoll", ranks.circoll},
               {"date", ranks.date},
               {"host", ranks.host}});
  return json;
}

Json json_of(const select::ProfileProgram& program) {
  Json json = {{"report", program.report},
               {"launches", program.launches},
               {"circoll", program.circoll},
               {"date", program.date},
               {"host", program.host}};
  if (!program.tried.empty()) json["tried"] = program.tried;
  return json;
}

/// The list without entries of this number of ranks, with those of `fresh`, in ascending order.
template <typename RanksOf>
Json merged(const Json& before, const Json& fresh, Rank ranks, RanksOf ranks_of) {
  std::vector<Json> all;
  for (const Json& entry : before) {
    if (ranks_of(entry) != ranks) all.push_back(entry);
  }
  for (const Json& entry : fresh) all.push_back(entry);
  std::ranges::stable_sort(all, [&](const Json& a, const Json& b) { return ranks_of(a) < ranks_of(b); });
  return all;
}

/// The rules of a collective without "otherwise".
Json rules_of(const Json& profile, const std::string& collective) {
  Json rules = Json::array();
  if (!profile.contains(collective)) return rules;
  for (const Json& rule : profile.at(collective)) {
    if (!rule.contains("otherwise")) rules.push_back(rule);
  }
  return rules;
}

/// The first number of a rule's "p"; 0, which no part has, for rules that somebody has written for all.
Rank ranks_of_rule(const Json& rule) {
  if (!rule.contains("p") || !rule.at("p").is_array() || rule.at("p").empty()) return 0;
  const Json& from = rule.at("p").front();
  return from.is_number_integer() ? from.get<Rank>() : 0;
}

/// The text of the file, if it is a profile. Another file of this name is moved away.
std::string text_before(const std::string& file, StoredProfile& stored) {
  std::error_code error;
  if (!fs::exists(file, error)) return "";
  try {
    std::string text = select::read_text_file(file);
    (void)select::make_profile_policy(text, file, {});
    return text;
  } catch (const Error&) {
    stored.damaged = file + ".damaged";
    fs::rename(file, stored.damaged, error);
    if (error) {
      throw Error(ErrorCode::invalid_argument, "the file '" + file + "' cannot be moved away: " + error.message());
    }
  }
  return "";
}

/// The profile `before`; an empty object for an empty text. Throws if it is for another machine.
Json read_before(const std::string& before, const select::ProfileKey& key) {
  if (before.empty()) return Json::object();
  const select::ProfileHead head = select::read_profile_head(before, "the profile");
  if (!(head.key == key)) {
    throw Error(ErrorCode::invalid_argument, "the profile is for " + head.key.library + " on '" + head.key.processor +
                                                 "', not for " + key.library + " on '" + key.processor + "'");
  }
  return Json::parse(before);
}

/// The list of a collective, of the given rules, as a member behind others.
std::string list_text(const std::string& indent, const std::string& name, const Json& rules) {
  std::string text = ",\n" + indent + one_line(name) + ": [\n";
  for (const Json& rule : rules) text += indent + "  " + one_line(rule) + ",\n";
  return text + indent + "  {\"otherwise\": \"auto\"}\n" + indent + "]";
}

std::string lists_text(const std::string& indent, const Json& lists) {
  std::string text;
  for (const Collective collective : all_collectives) {
    const std::string name(to_string(collective));
    if (const Json rules = rules_of(lists, name); !rules.empty()) text += list_text(indent, name, rules);
  }
  return text;
}

/// The text of a profile. `json` has the lists of collectives and the programs.
std::string text_of(const select::ProfileKey& key, const Json& measured, const Json& json) {
  std::string text = "{\n  \"circoll_rules\": 1,\n  \"about\": \"a profile, written by circoll tune\",\n";
  text += "  \"profile\": {\n    \"version\": 1,\n    \"library\": " + one_line(key.library) +
          ",\n    \"processor\": " + one_line(key.processor) + ",\n    \"measured\": [";
  for (std::size_t i = 0; i < measured.size(); ++i) text += (i == 0 ? "\n      " : ",\n      ") + one_line(measured[i]);
  text += (measured.empty() ? "]\n  }" : "\n    ]\n  }") + lists_text("  ", json);
  if (json.contains("programs") && !json.at("programs").empty()) {
    text += ",\n  \"programs\": {";
    std::string separator = "\n";
    for (const auto& [name, section] : json.at("programs").items()) {
      text += separator + "    " + one_line(name) + ": {\n      \"measured\": " + one_line(section.at("measured")) +
              lists_text("      ", section) + "\n    }";
      separator = ",\n";
    }
    text += "\n  }";
  }
  text += "\n}\n";
  (void)select::make_profile_policy(text, "the profile", {});
  return text;
}

Json measured_in(const Json& profile) {
  return profile.contains("profile") ? profile.at("profile").at("measured") : Json::array();
}

}  // namespace

std::string merged_profile(const std::string& before, const ProfilePart& part) {
  Json json = read_before(before, part.key);
  const Json fresh = Json::parse(rules_json(part.cells, part.op, {.about = "", .one_node = true}));
  const auto ranks_of_entry = [](const Json& entry) { return entry.at("ranks").get<Rank>(); };
  const Json measured = merged(measured_in(json), Json::array({json_of(part.ranks)}), part.ranks.ranks, ranks_of_entry);
  for (const Collective collective : all_collectives) {
    const std::string name(to_string(collective));
    // A collective that was not measured now keeps its rules.
    const bool asked =
        std::ranges::any_of(part.cells, [&](const RuleCell& cell) { return cell.collective == collective; });
    if (asked) json[name] = merged(rules_of(json, name), rules_of(fresh, name), part.ranks.ranks, ranks_of_rule);
  }
  return text_of(part.key, measured, json);
}

std::string merged_profile(const std::string& before, const ProgramPart& part) {
  Json json = read_before(before, part.key);
  Json section = Json::parse(rules_json(part.cells, part.op));
  section["measured"] = json_of(part.program);
  json["programs"][part.program.name] = std::move(section);
  const Json measured = measured_in(json);
  return text_of(part.key, measured, json);
}

std::string without_program(const std::string& before, const select::ProfileKey& key, const std::string& program) {
  Json json = read_before(before, key);
  if (json.contains("programs")) json.at("programs").erase(program);
  const Json measured = measured_in(json);
  return text_of(key, measured, json);
}

void require_writable(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    throw Error(ErrorCode::invalid_argument, "the directory '" + directory + "' cannot be made: " + error.message());
  }
  const std::string probe = directory + "/." + std::to_string(getpid()) + ".probe";
  std::FILE* const file = std::fopen(probe.c_str(), "w");
  if (file == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                "the directory '" + directory + "' cannot be written: " + std::strerror(errno));
  }
  (void)std::fclose(file);
  fs::remove(probe, error);
}

StoredProfile store_profile(const std::string& file, const std::variant<ProfilePart, ProgramPart>& part,
                            const std::string& beginning) {
  StoredProfile stored{.file = file, .damaged = {}};
  require_writable(directory_of(file));
  const FileLock lock(directory_of(file) + "/.lock");
  std::string before = text_before(file, stored);
  if (before.empty()) before = beginning;
  replace_file(file, std::visit([&](const auto& one) { return merged_profile(before, one); }, part));
  return stored;
}

}  // namespace circoll::measured
