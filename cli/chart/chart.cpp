#include "chart/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace circoll::cli {
namespace {

/// U+FFFE and U+FFFF in UTF-8, which are no characters of XML.
bool is_noncharacter(std::string_view text) {
  return text.size() >= 3 && text.substr(0, 2) == "\xef\xbf" && (text[2] == '\xbe' || text[2] == '\xbf');
}

/// The products of these with all powers of ten, in [low, high].
std::vector<double> with_mantissas(std::initializer_list<double> mantissas, double low, double high) {
  std::vector<double> ticks;
  const int last = static_cast<int>(std::floor(std::log10(high)));
  for (int decade = static_cast<int>(std::floor(std::log10(low))); decade <= last; ++decade) {
    for (const double mantissa : mantissas) {
      const double tick = mantissa * std::pow(10, decade);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push_back(tick);
    }
  }
  return ticks;
}

}  // namespace

std::string escaped(std::string_view text) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '"') {
      safe += "&quot;";
    } else if (c == '\'') {
      safe += "&#39;";
    } else if (is_noncharacter(text.substr(i))) {
      safe += replacement;
      i += 2;
    } else if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n') {
      safe += replacement;
    } else {
      safe += c;
    }
  }
  return safe;
}

Scale::Scale(double low, double high, double from, double to, bool logarithmic)
    : low_(low), high_(high), from_(from), to_(to), logarithmic_(logarithmic) {}

Scale Scale::linear(double low, double high, double from, double to) { return {low, high, from, to, false}; }

Scale Scale::logarithmic(double low, double high, double from, double to) { return {low, high, from, to, true}; }

double Scale::operator()(double value) const {
  const double inside = std::clamp(value, low_, high_);
  const double share =
      logarithmic_ ? std::log(inside / low_) / std::log(high_ / low_) : (inside - low_) / (high_ - low_);
  return from_ + (to_ - from_) * share;
}

std::vector<double> linear_ticks(double low, double high) {
  const double about = (high - low) / 5;
  const double power = std::pow(10, std::floor(std::log10(about)));
  double step = 10 * power;
  for (const double mantissa : {5.0, 2.0, 1.0}) {
    if (mantissa * power >= about * 0.8) step = mantissa * power;
  }
  std::vector<double> ticks;
  // A zero without a sign.
  for (double i = std::ceil(low / step - 1e-9) + 0.0; i * step <= high + step * 1e-9; ++i) ticks.push_back(i * step);
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  constexpr std::size_t most = 8;
  for (const auto& mantissas : {std::initializer_list<double>{1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1}}) {
    std::vector<double> ticks = with_mantissas(mantissas, low, high);
    if (ticks.size() < 3) return linear_ticks(low, high);  // less than a factor of two
    if (ticks.size() <= most) return ticks;
  }
  const std::vector<double> decades = with_mantissas({1}, low, high);
  std::vector<double> some;
  for (std::size_t i = 0; i < decades.size(); i += (decades.size() + most - 1) / most) some.push_back(decades[i]);
  return some;
}

void draw_row(Out out, const Frame& frame, double y, std::string_view label) {
  fmt::format_to(out, "<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", frame.left, y,
                 frame.right, y);
  if (label.empty()) return;
  fmt::format_to(out, "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", frame.left - 8,
                 y + 4, label);
}

void draw_column(Out out, const Frame& frame, double x, std::string_view label) {
  fmt::format_to(out, "<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", x, frame.top,
                 x, frame.bottom);
  if (label.empty()) return;
  fmt::format_to(out, "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x,
                 frame.bottom + 18, label);
}

void begin_svg(Out out, double width, double height, std::string_view title, std::string_view description) {
  fmt::format_to(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
                 "role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n",
                 width, height, escaped(title), escaped(description));
}

const std::string_view chart_style = R"(
text { font-family: system-ui, "DejaVu Sans", Helvetica, Arial, sans-serif; font-size: 12px; fill: #1f2328; }
.ground { fill: #ffffff; }
.title { font-size: 18px; font-weight: 600; }
.note { font-size: 11px; fill: #59636e; }
.grid { stroke: #d8dee4; stroke-width: 1; }
.curve { fill: none; stroke-width: 1.8; }
)";

}  // namespace circoll::cli
