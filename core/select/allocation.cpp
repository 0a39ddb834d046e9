#include "select/allocation.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

#include "circoll/error.hpp"
#include "facts/hostlist.hpp"
#include "select/text_file.hpp"

namespace circoll::select {
namespace {

constexpr std::size_t most_ranks = std::size_t{1} << 20;
constexpr std::size_t most_levels = 16;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string excerpt(std::string_view text) {
  std::string shown = "'";
  for (const char c : text.substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > 40 ? "...'" : "'");
}

/// The lines of a text without comments and blanks at their ends; empty ones are left out.
class Lines {
 public:
  Lines(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  std::optional<std::string_view> next() {
    while (!text_.empty()) {
      ++line_;
      const std::size_t end = text_.find('\n');
      const std::string_view line = text_.substr(0, end);
      text_ = end == std::string_view::npos ? std::string_view{} : text_.substr(end + 1);
      const std::string_view content = trimmed(line.substr(0, line.find('#')));
      if (!content.empty()) return content;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::size_t line() const { return std::max<std::size_t>(line_, 1); }
  [[noreturn]] void fail(const std::string& what) const { fail_at(source_, line(), what); }
  /// The names of a list. Throws with the line.
  [[nodiscard]] std::vector<std::string> names(std::string_view list, std::size_t most) const {
    try {
      return hosts_of_list(list, most);
    } catch (const Error& error) {
      fail(error.what());
    }
  }

 private:
  std::string_view text_;
  const std::string& source_;
  std::size_t line_ = 0;
};

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

/// The values of a line of topology.conf that say where things are; the others are left out.
struct SwitchLine {
  std::string name;
  std::string_view nodes;
  std::string_view switches;
};

SwitchLine switch_line(std::string_view line, const Lines& lines) {
  SwitchLine result;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view word = line.substr(0, end);
    line = trimmed(line.substr(end));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals + 1 == word.size())
      lines.fail(excerpt(word) + " is not of the form key=value");
    const std::string_view key = word.substr(0, equals), value = word.substr(equals + 1);
    if (same_word(key, "SwitchName")) result.name = value;
    if (same_word(key, "Nodes")) result.nodes = value;
    if (same_word(key, "Switches")) result.switches = value;
  }
  if (result.name.empty()) lines.fail("a line of topology.conf begins with SwitchName=");
  if (result.nodes.empty() == result.switches.empty())
    lines.fail("switch " + excerpt(result.name) + " has either Nodes= or Switches=");
  return result;
}

}  // namespace

SwitchTree::SwitchTree(std::string_view text, const std::string& source) : source_(source) {
  Lines lines(text, source);
  std::map<std::string, std::size_t, std::less<>> described, mentioned;  // switch -> line
  while (const auto line = lines.next()) {
    const SwitchLine one = switch_line(*line, lines);
    if (!described.try_emplace(one.name, lines.line()).second)
      lines.fail("switch " + excerpt(one.name) + " is described twice");
    const bool is_leaf = !one.nodes.empty();
    auto& parents = is_leaf ? leaf_of_ : above_;
    if (parents.size() >= most_hosts) lines.fail("there are more than 2^20 hosts or switches");
    for (std::string& child : lines.names(is_leaf ? one.nodes : one.switches, most_hosts - parents.size())) {
      if (!is_leaf) mentioned.try_emplace(child, lines.line());
      const auto [found, is_new] = parents.try_emplace(std::move(child), one.name);
      if (!is_new)
        lines.fail(excerpt(found->first) + " is below " + excerpt(found->second) + " and " + excerpt(one.name));
    }
  }
  if (leaf_of_.empty()) lines.fail("the file has no switch with Nodes=");
  for (const auto& [name, line] : mentioned) {
    if (!described.contains(name)) fail_at(source, line, "no line describes switch " + excerpt(name));
  }
  for (const auto& [name, line] : described) {
    std::size_t levels = 0;
    for (auto at = above_.find(name); at != above_.end(); at = above_.find(at->second)) {
      if (++levels > most_levels) {
        fail_at(source, line,
                "switch " + excerpt(name) + " is above itself, or has more than " + std::to_string(most_levels) +
                    " levels of switches above it");
      }
    }
  }
}

Path SwitchTree::path_of(const std::string& host) const {
  const auto leaf = leaf_of_.find(host);
  if (leaf == leaf_of_.end())
    throw Error(ErrorCode::invalid_argument, source_ + " has no host " + excerpt(host) + " below any switch");
  Path path{host, leaf->second};
  for (auto at = above_.find(leaf->second); at != above_.end(); at = above_.find(at->second))
    path.push_back(at->second);
  std::reverse(path.begin(), path.end());
  return path;
}

bool describes_switches(const std::string& text) {
  constexpr std::string_view key = "SwitchName=";
  Lines lines(text, text);
  const auto first = lines.next();
  return first && same_word(first->substr(0, key.size()), key);
}

std::optional<Path> path_of_xname(std::string_view name) {
  constexpr std::array letters{'x', 'c', 's', 'b', 'n'};
  Path path;
  std::size_t at = 0;
  for (const char letter : letters) {
    if (at == name.size() || name[at] != letter) return std::nullopt;
    const std::size_t begin = ++at;
    while (at < name.size() && name[at] >= '0' && name[at] <= '9') ++at;
    if (at == begin || at - begin > 9) return std::nullopt;
    path.emplace_back(name.substr(0, at));
  }
  if (at != name.size()) return std::nullopt;
  return path;
}

namespace {

/// Takes ":8" from the end of a line.
Rank take_ranks(std::string_view& line, Rank cores, const Lines& lines) {
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos) return cores;
  const std::string_view digits = line.substr(colon + 1);
  Rank ranks = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ranks);
  if (error != std::errc{} || end != digits.data() + digits.size() || ranks < 1)
    lines.fail(excerpt(line) + " does not end in a number of ranks");
  line = trimmed(line.substr(0, colon));
  return ranks;
}

Path path_with_slashes(std::string_view text, const Lines& lines) {
  Path path;
  while (true) {
    const std::size_t slash = text.find('/');
    const std::string_view name = text.substr(0, slash);
    if (name.empty() || name.find_first_of(" \t,[]") != std::string_view::npos)
      lines.fail(excerpt(name) + " is no name in a path");
    if (path.size() == most_levels) lines.fail("a path has more than " + std::to_string(most_levels) + " names");
    path.emplace_back(name);
    if (slash == std::string_view::npos) return path;
    text.remove_prefix(slash + 1);
  }
}

/// The words for the parts of each level, for paths of which the longest has this length.
std::vector<std::string> level_names(std::size_t depth, bool in_switches, bool of_cray) {
  if (of_cray) return {"cabinets", "chassis", "slots", "boards", "hosts"};
  if (!in_switches) return {};
  std::vector<std::string> names{"hosts"};
  for (std::size_t level = 0; level + 1 < depth; ++level)  // Slurm counts from the leaves
    names.push_back(level == 0 ? "leaf switches" : "level " + std::to_string(level) + " switches");
  std::reverse(names.begin(), names.end());
  return names;
}

}  // namespace

Levels levels_from_text(std::string_view text, const std::string& source, Rank cores, const SwitchTree* switches,
                        Rank p) {
  require(cores >= 1 && p >= 0, "a host has at least one rank");
  Lines lines(text, source);
  std::vector<Path> paths;
  bool with_path = false, without = false, of_cray = true;
  while (auto line = lines.next()) {
    const Rank ranks = take_ranks(*line, cores, lines);
    std::vector<Path> here;
    if (line->find('/') != std::string_view::npos) {
      here.push_back(path_with_slashes(*line, lines));
      with_path = true;
      of_cray = false;
    } else if (auto path = switches == nullptr ? path_of_xname(*line) : std::nullopt) {
      here.push_back(std::move(*path));
      with_path = true;
    } else {
      for (const std::string& host : lines.names(*line, most_ranks - std::min(paths.size(), most_ranks))) {
        try {
          here.push_back(switches == nullptr ? Path{host} : switches->path_of(host));
        } catch (const Error& error) {
          lines.fail(error.what());
        }
      }
      (switches == nullptr ? without : with_path) = true;
      of_cray = false;
    }
    if (with_path && without) lines.fail("some hosts have a path, and others have none");
    if (static_cast<std::size_t>(ranks) > (most_ranks - paths.size()) / here.size())
      lines.fail("there are more than 2^20 ranks");
    for (const Path& path : here) paths.insert(paths.end(), static_cast<std::size_t>(ranks), path);
  }
  if (paths.empty()) lines.fail("the file has no host");
  if (p > static_cast<Rank>(paths.size())) {
    lines.fail("the file has " + std::to_string(paths.size()) + (paths.size() == 1 ? " rank" : " ranks") +
               ", which are fewer than " + std::to_string(p));
  }
  if (p > 0) paths.resize(static_cast<std::size_t>(p));
  std::size_t depth = 0;
  for (const Path& path : paths) depth = std::max(depth, path.size());
  return Levels(std::move(paths), level_names(depth, switches != nullptr, of_cray));
}

namespace {

/// Reads digits at the beginning, and takes them away. Nothing if there are none.
std::optional<std::size_t> take_number(std::string_view& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value > most_ranks) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

std::string allocation_of_slurm(std::string_view nodelist, std::string_view tasks_per_node) {
  std::vector<std::string> hosts;
  try {
    hosts = hosts_of_list(nodelist);
  } catch (const Error& error) {
    throw Error(ErrorCode::parse, std::string("SLURM_JOB_NODELIST: ") + error.what());
  }
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::parse, "SLURM_TASKS_PER_NODE: " + excerpt(tasks_per_node) + " " + what);
  };
  std::string text;
  std::size_t host = 0;
  for (std::string_view rest = tasks_per_node; !rest.empty();) {
    const auto tasks = take_number(rest);
    std::size_t times = 1;
    if (rest.starts_with("(x")) {
      rest.remove_prefix(2);
      times = take_number(rest).value_or(0);
      if (!rest.starts_with(")")) fail("has a bracket that does not end");
      rest.remove_prefix(1);
    }
    if (!tasks || *tasks == 0 || times == 0) fail("is no list of numbers, such as 2(x3),1");
    if (times > hosts.size() - host) fail("is for more hosts than SLURM_JOB_NODELIST has");
    for (; times > 0; --times, ++host) text += hosts[host] + ":" + std::to_string(*tasks) + "\n";
    if (rest.empty()) break;
    if (rest.front() != ',' || rest.size() == 1) fail("is no list of numbers, such as 2(x3),1");
    rest.remove_prefix(1);
  }
  if (!tasks_per_node.empty() && host < hosts.size()) fail("is for fewer hosts than SLURM_JOB_NODELIST has");
  for (; host < hosts.size(); ++host) text += hosts[host] + "\n";
  return text;
}

}  // namespace circoll::select
