// Times, distributions and arrivals as people write them.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "select/text_file.hpp"
#include "sim/sim.hpp"
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

void set_exchange(LogGops& link, std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  double factor = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + colon, factor);
  const auto bytes = parse_bytes(text.substr(std::min(colon + 1, text.size())));
  if (error != std::errc{} || rest != text.data() + colon || !(factor > 0) || !std::isfinite(factor) || !bytes) {
    throw Error(ErrorCode::parse, excerpt(text) + " is no FACTOR:BYTES, such as 2.1:64Ki");
  }
  link.exchange_factor = factor;
  link.exchange_from_bytes = *bytes;
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

std::optional<std::string_view> LinesOfRanks::next() {
  while (!text_.empty()) {
    ++line_;
    const std::size_t end = text_.find('\n');
    const std::string_view item = trimmed(text_.substr(0, std::min(end, text_.find('#'))));
    text_ = end == std::string_view::npos ? std::string_view{} : text_.substr(end + 1);
    if (!item.empty()) return item;
  }
  return std::nullopt;
}

void LinesOfRanks::count() {
  if (counted_ == p_) fail("there are more " + std::string(items_) + " than " + std::to_string(p_) + " ranks");
  ++counted_;
}

void LinesOfRanks::finish() const {
  if (counted_ < p_) {
    fail("the file ends after " + std::to_string(counted_) + " " + std::string(items_) + ", and there are " +
         std::to_string(p_) + " ranks");
  }
}

void LinesOfRanks::fail(const std::string& what) const {
  select::fail_at(source_, std::max<std::size_t>(line_, 1), what);
}

std::vector<double> arrivals_from_text(std::string_view text, Rank p, const std::string& source) {
  std::vector<double> arrivals;
  LinesOfRanks lines(text, p, source, "times");
  while (const auto item = lines.next()) {
    const auto time = parse_time(*item);
    if (!time) lines.fail(excerpt(*item) + " is no time, such as 10us or 2e-6");
    lines.count();
    arrivals.push_back(*time);
  }
  lines.finish();
  return arrivals;
}

}  // namespace circoll::sim
