#include "facts/hostlist.hpp"

#include <charconv>
#include <cstdint>
#include <utility>

#include "circoll/error.hpp"

namespace circoll {
namespace {

/// A host's name and a number in it are no longer than this.
constexpr std::size_t longest_name = 255;
constexpr std::size_t longest_number = 18;

[[noreturn]] void fail(std::string_view list, const std::string& why) {
  std::string shown;
  for (const char c : list.substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
  throw Error(ErrorCode::parse, "'" + shown + (list.size() > 40 ? "...' " : "' ") + why);
}

/// The list up to the first comma that stands in no bracket; takes it and the comma away.
std::string_view take_item(std::string_view& rest) {
  bool inside = false;
  std::size_t at = 0;
  for (; at < rest.size() && (inside || rest[at] != ','); ++at) {
    if (rest[at] == '[') inside = true;
    if (rest[at] == ']') inside = false;
  }
  const std::string_view item = rest.substr(0, at);
  rest.remove_prefix(at == rest.size() ? at : at + 1);
  return item;
}

std::uint64_t number_of(std::string_view digits, std::string_view item) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || digits.size() > longest_number || error != std::errc{} || end != digits.data() + digits.size())
    fail(item, "has no number, or a range of numbers, where a bracket needs it");
  return value;
}

/// The words of a bracket, "001-003,7", one after the other.
std::vector<std::string> words_of_bracket(std::string_view bracket, std::string_view item, std::size_t most) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t comma = bracket.find(',');
    const std::string_view range = bracket.substr(0, comma);
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
    const std::uint64_t first = number_of(low, item), last = number_of(high, item);
    if (last < first) fail(item, "has a range that goes down");
    if (last - first >= most - words.size()) fail(item, "names more than " + std::to_string(most) + " hosts");
    for (std::uint64_t number = first; number <= last; ++number) {
      std::string digits = std::to_string(number);
      if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
      words.push_back(std::move(digits));
    }
    if (comma == std::string_view::npos) return words;
    bracket.remove_prefix(comma + 1);
  }
}

bool is_of_name(char c) { return c > ' ' && c <= '~' && c != '[' && c != ']' && c != ',' && c != '='; }

/// Adds the names of one item, of which each bracket multiplies the number.
void append(std::string_view item, std::size_t most, std::vector<std::string>& hosts) {
  std::vector<std::string> names{""};
  std::string_view rest = item;
  while (!rest.empty()) {
    std::vector<std::string> words;
    if (rest.front() == '[') {
      const std::size_t end = rest.find(']');
      if (end == std::string_view::npos) fail(item, "has a bracket that does not end");
      words = words_of_bracket(rest.substr(1, end - 1), item, most);
      rest.remove_prefix(end + 1);
    } else {
      std::size_t end = 0;
      while (end < rest.size() && is_of_name(rest[end])) ++end;
      if (end == 0) fail(item, "is no name of a host");
      words.emplace_back(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    if (names.size() * words.size() > most - hosts.size())
      fail(item, "names more than " + std::to_string(most) + " hosts");
    std::vector<std::string> longer;
    longer.reserve(names.size() * words.size());
    for (const std::string& name : names) {
      for (const std::string& word : words) {
        if (name.size() + word.size() > longest_name) fail(item, "names a host by more than 255 characters");
        longer.push_back(name + word);
      }
    }
    names = std::move(longer);
  }
  if (names.front().empty()) fail(item, "is no name of a host");
  for (std::string& name : names) hosts.push_back(std::move(name));
}

}  // namespace

std::vector<std::string> hosts_of_list(std::string_view list, std::size_t most) {
  std::vector<std::string> hosts;
  std::string_view rest = list;
  do {
    const std::string_view item = take_item(rest);
    if (item.empty()) fail(list, "has an empty name of a host");
    append(item, most, hosts);
  } while (!rest.empty());
  if (list.back() == ',') fail(list, "has an empty name of a host");
  return hosts;
}

}  // namespace circoll
