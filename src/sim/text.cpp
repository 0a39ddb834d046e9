// Times, distributions and arrivals as people write them.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "circoll/error.hpp"
#include "circoll/sim.hpp"
#include "sim/text.hpp"

namespace circoll::sim {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::string excerpt(std::string_view text) {
  std::string result = "'";
  for (const char c : text.substr(0, 40)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > 40 ? "...'" : "'");
}

std::optional<double> parse_time(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 5> units = {
      {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"", 1}}};
  text = trimmed(text);
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit = trimmed(text.substr(static_cast<std::size_t>(rest - text.data())));
  for (const auto& [name, seconds] : units) {
    if (unit == name) return std::abs(value) * seconds;
  }
  return std::nullopt;
}

Spread parse_spread(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, Spread::Kind>, 3> kinds = {
      {{"uniform", Spread::Kind::uniform},
       {"exponential", Spread::Kind::exponential},
       {"normal", Spread::Kind::normal}}};
  if (text == "none") return {};
  const std::size_t colon = text.find(':');
  for (const auto& [name, kind] : kinds) {
    if (colon == std::string_view::npos || text.substr(0, colon) != name) continue;
    const auto scale = parse_time(text.substr(colon + 1));
    if (!scale) break;
    return {.kind = kind, .scale_s = *scale};
  }
  throw Error(ErrorCode::parse, excerpt(text) +
                                    " is no distribution: none, uniform:TIME (up to), exponential:TIME "
                                    "(mean) or normal:TIME (sigma), a TIME such as 10us or 2e-6");
}

std::vector<double> arrivals_from_text(std::string_view text, Rank p, const std::string& source) {
  std::vector<double> arrivals;
  std::size_t line = 0;
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::parse, source + ":" + std::to_string(std::max<std::size_t>(line, 1)) + ": " + what);
  };
  while (!text.empty()) {
    ++line;
    const std::size_t end = text.find('\n');
    const std::string_view item = trimmed(text.substr(0, std::min(end, text.find('#'))));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (item.empty()) continue;
    const auto time = parse_time(item);
    if (!time) fail(excerpt(item) + " is no time, such as 10us or 2e-6");
    if (static_cast<Rank>(arrivals.size()) == p) fail("there are more times than " + std::to_string(p) + " ranks");
    arrivals.push_back(*time);
  }
  if (static_cast<Rank>(arrivals.size()) < p) {
    fail("the file ends after " + std::to_string(arrivals.size()) + " times, and there are " + std::to_string(p) +
         " ranks");
  }
  return arrivals;
}

}  // namespace circoll::sim
