#include "select/profile.hpp"

#include <algorithm>
#include <cctype>

#include "circoll/collectives.hpp"
#include "facts/hash.hpp"
#include "select/text_file.hpp"

namespace circoll::select {
namespace {

constexpr Rank most_ranks = Rank{1} << 31;

ProfileRanks read_ranks(const Json& entry, const std::string& source) {
  const Members members(entry, source,
                        {"ranks", "crowded", "processors", "launches", "circoll", "date", "host", "about"});
  ProfileRanks one{.ranks = members.integer("ranks")};
  if (one.ranks < 1 || one.ranks >= most_ranks) members.fail(entry, "'ranks' must be a number of ranks");
  if (members.find("crowded") != nullptr) one.crowded = members.boolean("crowded");
  one.processors = members.integer("processors");
  one.launches = members.integer("launches");
  if (one.processors < 0 || one.launches < 0) members.fail(entry, "numbers must not be negative");
  one.circoll = members.text("circoll");
  one.date = members.text("date");
  one.host = members.text("host");
  return one;
}

ProfileProgram read_program(const std::string& name, const Json& section, const std::string& source) {
  const Members members(section, source);
  const Members measured(members.at("measured"), source, {"report", "launches", "circoll", "date", "host", "tried"});
  ProfileProgram one{.name = name,
                     .report = measured.text("report"),
                     .launches = measured.integer("launches"),
                     .circoll = measured.text("circoll"),
                     .date = measured.text("date"),
                     .host = measured.text("host")};
  if (measured.find("tried") != nullptr) one.tried = measured.text("tried");
  return one;
}

/// Calls on several nodes must not get results that were measured on one node.
void require_one_node(const Json& root, const std::string& source) {
  for (const Collective collective : all_collectives) {
    const Json* const list = root.member(to_string(collective));
    if (list == nullptr || list->array() == nullptr) continue;
    for (const Json& rule : *list->array()) {
      if (rule.member("otherwise") != nullptr) continue;
      const Json* const nodes = rule.member("nodes");
      const auto bound = [&](std::size_t i) {
        const Json::Array* const range = nodes == nullptr ? nullptr : nodes->array();
        const auto* value =
            range == nullptr || range->size() <= i ? nullptr : std::get_if<std::int64_t>(&(*range)[i].value);
        return value == nullptr ? 0 : *value;
      };
      if (bound(0) != 1 || bound(1) != 2) {
        fail_at(source, rule.line, "a rule of a profile is for one node: \"nodes\": [1, 2]");
      }
    }
  }
}

}  // namespace

const ProfileRanks* ProfileHead::find(Rank ranks) const {
  const auto found =
      std::find_if(measured.begin(), measured.end(), [&](const ProfileRanks& one) { return one.ranks == ranks; });
  return found == measured.end() ? nullptr : &*found;
}

const ProfileProgram* ProfileHead::find_program(std::string_view name) const {
  const auto found =
      std::find_if(programs.begin(), programs.end(), [&](const ProfileProgram& one) { return one.name == name; });
  return found == programs.end() ? nullptr : &*found;
}

ProfileHead read_profile_head(std::string_view text, const std::string& source) {
  const Json root = read_json(text, source);
  const Json* const json = root.member("profile");
  if (json == nullptr) fail_at(source, root.line, "this is no profile: there is no \"profile\"");
  const Members members(*json, source, {"version", "library", "processor", "measured"});
  members.require_version("version");
  ProfileHead head{.key = {.library = members.text("library"), .processor = members.text("processor")}};
  const Json& list = members.at("measured");
  if (list.array() == nullptr) members.fail(list, "'measured' must be a list [...]");
  for (const Json& entry : *list.array()) {
    head.measured.push_back(read_ranks(entry, source));
    const std::size_t n = head.measured.size();
    if (n > 1 && head.measured[n - 2].ranks >= head.measured[n - 1].ranks) {
      members.fail(entry, "numbers of ranks come in ascending order, each once");
    }
  }
  require_one_node(root, source);
  if (const Json* const programs = root.member("programs"); programs != nullptr && programs->object() != nullptr) {
    for (const auto& [name, section] : *programs->object())
      head.programs.push_back(read_program(name, section, source));
  }
  return head;
}

std::string library_name(std::string_view text) {
  const auto word = [](std::string_view rest) { return std::string(rest.substr(0, rest.find_first_of(", \t\n\r"))); };
  constexpr std::string_view openmpi = "Open MPI v", mpich = "MPICH Version:";
  if (text.starts_with(openmpi)) return "Open MPI " + word(text.substr(openmpi.size()));
  if (text.starts_with(mpich)) {
    const std::size_t at = text.find_first_not_of(" \t", mpich.size());
    return "MPICH " + (at == std::string_view::npos ? "" : word(text.substr(at)));
  }
  return std::string(text.substr(0, text.find_first_of("\n,")));
}

std::string profile_file_name(const ProfileKey& key) {
  std::string name;
  for (const char c : key.library + "-" + key.processor) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 128 && (std::isalnum(byte) != 0 || c == '.');
    if (plain) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
    if (name.size() >= 100) break;
  }
  const std::uint64_t hash = Hash().add(key.library).add(key.processor).value();
  constexpr std::string_view digits = "0123456789abcdef";
  name += name.empty() || name.back() != '-' ? "-" : "";
  for (unsigned shift = 0; shift < 24; shift += 4) name += digits[hash >> shift & 0xfU];
  return name + ".json";
}

}  // namespace circoll::select
