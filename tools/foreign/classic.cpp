// Reads numbers as Open MPI does: by scanf("%li"), and a character that begins none is skipped in silence.
#include "foreign/classic.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>

namespace circoll::foreign::openmpi {
namespace {

struct Number {
  std::int64_t value = 0;
  std::size_t line = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Scanner {
 public:
  Scanner(std::string_view text, std::vector<Warning>& warnings) : text_(text), warnings_(warnings) {}

  /// The next number, or nothing at the end.
  std::optional<Number> next() {
    while (at_ < text_.size()) {
      skip_space();
      if (at_ >= text_.size()) break;
      const Number number{.value = 0, .line = line_};
      if (const auto value = integer()) {
        last_end_ = at_;
        last_line_ = number.line;
        return Number{.value = *value, .line = number.line};
      }
      if (at_ >= text_.size()) break;
      skip_one();
    }
    return std::nullopt;
  }

  /// True if a digit follows after blanks, on the same line.
  bool digit_follows() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() && is_digit(text_[at_]);
  }
  /// True if a prefix is there, which is consumed if that is asked for.
  bool skip_prefix(std::string_view prefix, bool consume) {
    if (!text_.substr(at_).starts_with(prefix)) return false;
    if (consume) at_ += prefix.size();
    return true;
  }
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) {
      if (text_[at_] == '\n') ++line_;
      ++at_;
    }
  }

  void skip_one() {
    const char c = text_[at_++];
    if (c == '\n') ++line_;
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      return;
    }
    // Once for a line: the author meant something by it.
    if (c != '\n' && (warnings_.empty() || warnings_.back().line != line_)) {
      const bool unit = last_end_ + 1 == at_ && last_line_ == line_;
      warnings_.push_back({.line = line_,
                           .text = "'" + std::string(1, c >= ' ' && c <= '~' ? c : '?') + "' is skipped in silence" +
                                   (unit ? ", right after a number: units such as K are not known" : "")});
    }
  }

  /// An integer as strtol reads it with base 0: 0x is hexadecimal, and a leading 0 octal.
  std::optional<std::int64_t> integer() {
    std::size_t i = at_;
    bool negative = false;
    if (text_[i] == '+' || text_[i] == '-') negative = text_[i++] == '-';
    int base = 10;
    const std::size_t first = i;
    if (i < text_.size() && text_[i] == '0') {
      base = 8;
      if (i + 2 < text_.size() && (text_[i + 1] == 'x' || text_[i + 1] == 'X') &&
          std::isxdigit(static_cast<unsigned char>(text_[i + 2])) != 0) {
        base = 16;
        i += 2;
      }
    }
    std::uint64_t value = 0;
    const char* const digits = text_.data() + i;
    const auto [end, error] = std::from_chars(digits, text_.data() + text_.size(), value, base);
    if (end == digits) return std::nullopt;
    const auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1U : 0U);
    if (error == std::errc::result_out_of_range || value > limit) value = limit;
    i = static_cast<std::size_t>(end - text_.data());
    if (base != 10 && i - first > 1) {
      warnings_.push_back({.line = line_,
                           .text = "'" + std::string(text_.substr(first, std::min<std::size_t>(i - first, 24))) +
                                   "' is read as " + (base == 8 ? "an octal" : "a hexadecimal") + " number, " +
                                   std::to_string(value)});
    }
    at_ = i;
    return negative ? -static_cast<std::int64_t>(value - 1) - 1 : static_cast<std::int64_t>(value);
  }

  std::string_view text_;
  std::vector<Warning>& warnings_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t last_end_ = std::string_view::npos - 1;
  std::size_t last_line_ = 0;
};

class Parser {
 public:
  Parser(std::string_view text, Version version) : scanner_(text, file_.warnings), version_(version) {}

  ClassicFile parse() {
    read_header();
    Number number;
    if (!read(number, "the number of collectives")) return std::move(file_);
    if (number.value > collectives_in_files) {
      set_error(number.line, "it announces " + std::to_string(number.value) + " collectives, more than there are");
    }
    for (std::int64_t left = number.value; left > 0 && file_.error.empty(); --left) read_block();
    if (!file_.error.empty()) return std::move(file_);
    if (const auto more = scanner_.next()) {
      file_.warnings.push_back({.line = more->line,
                                .text = "what follows is not read: the first number announces " +
                                        std::to_string(number.value) + " collectives"});
    }
    return std::move(file_);
  }

 private:
  void read_header() {
    const bool known = version_ != Version::v41;
    if (!scanner_.skip_prefix("rule-file-version-", known)) return;
    if (!known) {
      file_.warnings.push_back({.line = 1,
                                .text = "the header is known from 4.1.8 and 5.0.7 on; before these its end is taken "
                                        "for the number of collectives, and is negative"});
      return;
    }
    if (!scanner_.digit_follows()) return;
    const auto number = scanner_.next();
    header_ = number ? number->value : 1;
  }

  bool read(Number& number, const std::string& what) {
    const auto found = scanner_.next();
    if (!found) {
      set_error(scanner_.line(), "it ends where " + what + " should stand");
      return false;
    }
    number = *found;
    if (number.value >= 0) return true;
    set_error(number.line, what + " is negative");
    return false;
  }

  void read_block() {
    Number id;
    Number count;
    if (!read(id, "the number of a collective")) return;
    if (id.value >= collectives_in_files) {
      set_error(id.line, "there is no collective " + std::to_string(id.value));
      return;
    }
    if (!read(count, "the number of communicator sizes")) return;
    ClassicBlock block{.id = id.value, .line = id.line};
    for (std::int64_t left = count.value; left > 0; --left) {
      if (!read_entry(block)) return;
    }
    file_.blocks.push_back(std::move(block));
  }

  bool read_entry(ClassicBlock& block) {
    Number label;
    Number count;
    if (!read(label, "a communicator size") || !read(count, "the number of message sizes")) return false;
    ClassicEntry entry{.label = label.value, .line = label.line};
    for (std::int64_t left = count.value; left > 0; --left) {
      Number from;
      Number algorithm;
      Number fanout;
      Number segment;
      if (!read(from, "a message size") || !read(algorithm, "an algorithm") || !read(fanout, "a fan in/out") ||
          !read(segment, "a segment size")) {
        return false;
      }
      if (header_ > 1 && scanner_.digit_follows()) {
        Number requests;
        if (!read(requests, "the most requests")) return false;
      }
      if (entry.rules.empty() && from.value != 0) {
        set_error(from.line, "the first message size of a list is " + std::to_string(from.value) + ", and must be 0");
        return false;
      }
      entry.rules.push_back({.from_bytes = from.value,
                             .algorithm = algorithm.value,
                             .fanout = fanout.value,
                             .segment_bytes = segment.value,
                             .line = from.line});
    }
    block.entries.push_back(std::move(entry));
    return true;
  }

  void set_error(std::size_t line, std::string why) {
    file_.error = std::move(why);
    file_.error_line = line;
  }

  ClassicFile file_{};
  Scanner scanner_;
  Version version_;
  std::int64_t header_ = 1;
};

/// The last item before one whose bound is above `value`, at least the first. An empty list has none: -1.
template <typename Item>
std::ptrdiff_t last_up_to(const std::vector<Item>& list, std::int64_t Item::*bound, std::int64_t value) {
  if (list.empty()) return -1;
  const auto beyond = std::ranges::find_if(list, [&](const Item& item) { return item.*bound > value; });
  return std::max<std::ptrdiff_t>(beyond - list.begin() - 1, 0);
}

}  // namespace

ClassicFile parse_classic(std::string_view text, Version version) { return Parser(text, version).parse(); }

std::ptrdiff_t entry_of(const ClassicBlock& block, Rank p, Version version) {
  const auto count = static_cast<std::ptrdiff_t>(block.entries.size());
  if (version != Version::v60) return last_up_to(block.entries, &ClassicEntry::label, p);
  std::int64_t from = 0;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    const std::int64_t to =
        last ? std::numeric_limits<std::int32_t>::max() : block.entries[static_cast<std::size_t>(i)].label - 1;
    if (p >= from && p <= to) return i;
    from = to + 1;
  }
  return -1;
}

std::ptrdiff_t rule_of(const ClassicEntry& entry, Count bytes, Version version) {
  const auto count = static_cast<std::ptrdiff_t>(entry.rules.size());
  if (version != Version::v60) return last_up_to(entry.rules, &ClassicRule::from_bytes, bytes);
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    // One less than the next one's in unsigned arithmetic: before a size of 0 there is no end.
    const auto next = static_cast<std::size_t>(i + 1);
    const bool open = i + 1 == count || entry.rules[next].from_bytes == 0;
    if (bytes >= entry.rules[static_cast<std::size_t>(i)].from_bytes && (open || bytes < entry.rules[next].from_bytes))
      return i;
  }
  return -1;
}

}  // namespace circoll::foreign::openmpi
