#include "oracle/formula.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace circoll::formula {
namespace {

/// Recursive descent; values are computed while reading.
class Reader {
 public:
  Reader(std::string_view text, Names names) : text_(text), names_(std::move(names)) {}

  double whole() {
    const double value = sum();
    skip();
    if (at_ != text_.size()) fail("unexpected text");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("'" + std::string(text_) + "', character " + std::to_string(at_ + 1) + ": " + what);
  }

  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("'") + c + "' expected");
  }
  static bool letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  static bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
  std::string_view name_ahead() {
    if (peek() == '\0' || digit(peek())) return {};
    std::size_t end = at_;
    while (end < text_.size() && letter(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  double sum() {
    double value = product();
    for (;;) {
      if (take('+')) {
        value += product();
      } else if (take('-')) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = power();
    for (;;) {
      if (take('*')) {
        value *= power();
      } else if (take('/')) {
        value /= power();
      } else if (name_ahead() == "mod") {
        at_ += 3;
        const double by = power();
        value -= std::floor(value / by) * by;
      } else if (const char next = peek(); letter(next) || next == '(' || next == '[') {
        value *= power();
      } else {
        return value;
      }
    }
  }

  double power() {
    if (take('-')) return -power();
    const double base = primary();
    return take('^') ? std::pow(base, power()) : base;
  }

  double primary() {
    if (take('(')) {
      const double value = sum();
      expect(')');
      return value;
    }
    if (take('[')) return indicator();
    if (digit(peek())) {
      double value = 0;
      while (at_ < text_.size() && digit(text_[at_])) value = 10 * value + (text_[at_++] - '0');
      return value;
    }
    const std::string_view name = name_ahead();
    if (name.empty()) fail("a value expected");
    at_ += name.size();
    if (name == "sum") return series();
    if (name == "min" || name == "max") return extreme(name == "min");
    if (name == "ceil") return std::ceil(primary());
    if (name == "floor") return std::floor(primary());
    if (name == "log2") return std::log2(primary());
    if (name == "ones") return std::popcount(whole_number(primary()));
    if (name == "twos") return std::countr_zero(whole_number(primary()));
    const auto found = names_.find(name);
    if (found == names_.end()) fail("unknown name before here");
    return found->second;
  }

  std::uint64_t whole_number(double value) const {
    if (value < 0 || value != std::floor(value)) fail("a whole number expected");
    return static_cast<std::uint64_t>(value);
  }

  double indicator() {
    const double left = sum();
    const char kind = peek();
    ++at_;
    const bool or_equal = (kind == '<' || kind == '>') && take('=');
    const double right = sum();
    expect(']');
    if (left == right) return kind == '=' || or_equal ? 1 : 0;
    if (kind == '=') return 0;
    if (kind != '<' && kind != '>') fail("a comparison expected");
    return (left < right) == (kind == '<') ? 1 : 0;
  }

  double extreme(bool least) {
    expect('(');
    double value = sum();
    while (take(',')) {
      const double next = sum();
      value = least ? std::min(value, next) : std::max(value, next);
    }
    expect(')');
    return value;
  }

  double series() {
    expect('(');
    const std::string index(name_ahead());
    at_ += index.size();
    expect(',');
    const auto first = static_cast<std::int64_t>(sum());
    expect(',');
    const auto last = static_cast<std::int64_t>(sum());
    expect(',');
    const std::size_t body = at_;
    double total = 0;
    for (std::int64_t i = first; i <= std::max(last, first); ++i) {  // once at least, to read past it
      at_ = body;
      names_.insert_or_assign(index, static_cast<double>(i));
      const double value = sum();
      if (i <= last) total += value;
    }
    names_.erase(index);
    expect(')');
    return total;
  }

  std::string_view text_;
  Names names_;
  std::size_t at_ = 0;
};

/// Parts between commas outside of brackets.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

bool same(double a, double b) { return std::abs(a - b) < 1e-6; }

}  // namespace

double evaluate(std::string_view text, const Names& names) {
  Names known = names;
  const std::vector<std::string_view> parts = parts_of(text);
  for (std::size_t i = parts.size(); --i > 0;) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string_view::npos) throw std::runtime_error("'" + std::string(text) + "': name = expression?");
    std::string name(parts[i].substr(0, equals));
    std::erase(name, ' ');
    known.insert_or_assign(name, Reader(parts[i].substr(equals + 1), known).whole());
  }
  return Reader(parts[0], known).whole();
}

std::string mismatch(std::string_view text, const Names& names, double actual) {
  const auto wrong = [&](const char* relation, double value) {
    return "'" + std::string(text) + "': " + std::to_string(actual) + " is not " + relation + std::to_string(value);
  };
  if (text.starts_with("<=")) {
    const double bound = evaluate(text.substr(2), names);
    return actual <= bound + 1e-6 ? "" : wrong("at most ", bound);
  }
  if (!text.starts_with("counted")) {
    const double value = evaluate(text, names);
    return same(actual, value) ? "" : wrong("", value);
  }
  if (text == "counted") return "";
  const std::size_t when = text.find(" for ");
  const std::size_t equals = text.find('=');
  if (!text.starts_with("counted; ") || when == std::string_view::npos || equals == std::string_view::npos)
    return "'" + std::string(text) + "': not 'counted; E for A = B'";
  const std::size_t condition = when + 5;
  const double value = evaluate(text.substr(9, when - 9), names);
  const bool holds =
      same(evaluate(text.substr(condition, equals - condition), names), evaluate(text.substr(equals + 1), names));
  return !holds || same(actual, value) ? "" : wrong("", value);
}

}  // namespace circoll::formula
