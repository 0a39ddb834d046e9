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

}  // namespace

std::string merged_profile(const std::string& before, const ProfilePart& part) {
  Json old = Json::object();
  if (!before.empty()) {
    const select::ProfileHead head = select::read_profile_head(before, "the profile");
    if (!(head.key == part.key)) {
      throw Error(ErrorCode::invalid_argument, "the profile is for " + head.key.library + " on '" + head.key.processor +
                                                   "', not for " + part.key.library + " on '" + part.key.processor +
                                                   "'");
    }
    old = Json::parse(before);
  }
  const Json fresh = Json::parse(rules_json(part.cells, part.op, {.about = "", .one_node = true}));
  const Json measured = old.contains("profile") ? old.at("profile").at("measured") : Json::array();
  const auto ranks_of_entry = [](const Json& entry) { return entry.at("ranks").get<Rank>(); };
  const Json all = merged(measured, Json::array({json_of(part.ranks)}), part.ranks.ranks, ranks_of_entry);
  std::string text = "{\n  \"circoll_rules\": 1,\n  \"about\": \"a profile, written by circoll tune --here\",\n";
  text += "  \"profile\": {\n    \"version\": 1,\n    \"library\": " + one_line(part.key.library) +
          ",\n    \"processor\": " + one_line(part.key.processor) + ",\n    \"measured\": [\n";
  for (std::size_t i = 0; i < all.size(); ++i)
    text += "      " + one_line(all[i]) + (i + 1 < all.size() ? ",\n" : "\n");
  text += "    ]\n  }";
  for (const Collective collective : all_collectives) {
    const std::string name(to_string(collective));
    const Json rules = merged(rules_of(old, name), rules_of(fresh, name), part.ranks.ranks, ranks_of_rule);
    if (rules.empty()) continue;
    text += ",\n  " + one_line(name) + ": [\n";
    for (const Json& rule : rules) text += "    " + one_line(rule) + ",\n";
    text += "    {\"otherwise\": \"auto\"}\n  ]";
  }
  text += "\n}\n";
  (void)select::make_profile_policy(text, "the profile", {});
  return text;
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

StoredProfile store_profile(const std::string& file, const ProfilePart& part) {
  StoredProfile stored{.file = file, .damaged = {}};
  require_writable(directory_of(file));
  const FileLock lock(directory_of(file) + "/.lock");
  replace_file(file, merged_profile(text_before(file, stored), part));
  return stored;
}

}  // namespace circoll::measured
