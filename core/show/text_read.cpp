// The text form, read: line by line, word by word, nothing allocated that the text does not pay for.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "circoll/error.hpp"
#include "circoll/text.hpp"
#include "show/form.hpp"

namespace circoll {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The lines that hold something after comments are cut off, and a cursor in the current one. An empty line
/// stands for the end of the text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { next_line(); }

  void next_line() {
    do {
      if (text_.empty()) {
        line_ = {};
        ended_ = true;
        return;
      }
      const std::size_t end = text_.find('\n');
      line_ = text_.substr(0, end);
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      ++number_;
      line_ = line_.substr(0, line_.find('#'));
      skip_blanks();
    } while (line_.empty());
  }

  [[nodiscard]] std::size_t number_of_line() const { return number_; }
  [[nodiscard]] bool at_line_end() const { return line_.empty(); }

  /// Throws Error(parse), for example "line 3: expected 'rank', found 'root 0'".
  [[noreturn]] void fail_expecting(std::string_view what) const {
    const std::string found = ended_          ? "the end of the text"
                              : line_.empty() ? "the end of the line"
                                              : show::excerpt(line_);
    fail(fmt::format("expected {}, found {}", what, found));
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(ErrorCode::parse, fmt::format("schedule text, line {}: {}", number_, what));
  }

  /// next_is says if a mark such as "->" or "]" is next; accept_mark also passes over it.
  [[nodiscard]] bool next_is(std::string_view mark) const { return line_.starts_with(mark); }
  bool accept_mark(std::string_view mark) {
    if (!next_is(mark)) return false;
    pass(mark.size());
    return true;
  }
  void expect_mark(std::string_view mark) {
    if (!accept_mark(mark)) fail_expecting(fmt::format("'{}'", mark));
  }

  /// Passes over a word of letters, digits and _ if it is next; "sender" is not "send".
  bool accept_word(std::string_view word) {
    if (peek_word() != word) return false;
    pass(word.size());
    return true;
  }
  void expect_word(std::string_view word) {
    if (!accept_word(word)) fail_expecting(fmt::format("'{}'", word));
  }
  std::string_view word(std::string_view what) {
    const std::string_view result = peek_word();
    if (result.empty()) fail_expecting(what);
    pass(result.size());
    return result;
  }

  /// Everything up to the next blank, if that is a name.
  std::string name(std::string_view what) {
    std::size_t length = 0;
    while (length < line_.size() && !is_blank(line_[length])) ++length;
    if (!show::is_name(line_.substr(0, length))) fail_expecting(what);
    std::string result(line_.substr(0, length));
    pass(length);
    return result;
  }

  std::int64_t number(std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(line_.data(), line_.data() + line_.size(), value);
    if (error == std::errc::invalid_argument) fail_expecting("a number");
    if (error != std::errc{} || value < least || value > most) {
      const std::string_view digits(line_.data(), static_cast<std::size_t>(end - line_.data()));
      fail(fmt::format("the number {} is not in {} .. {}", show::excerpt(digits), least, most));
    }
    pass(static_cast<std::size_t>(end - line_.data()));
    return value;
  }
  std::int64_t number() { return number(0, show::largest_number); }

  void expect_line_end() {
    if (!at_line_end()) fail_expecting("the end of the line");
    next_line();
  }

 private:
  void pass(std::size_t characters) {
    line_.remove_prefix(characters);
    skip_blanks();
  }
  void skip_blanks() {
    while (!line_.empty() && is_blank(line_.front())) line_.remove_prefix(1);
    while (!line_.empty() && is_blank(line_.back())) line_.remove_suffix(1);
  }
  [[nodiscard]] std::string_view peek_word() const {
    std::size_t length = 0;
    while (length < line_.size() && is_word_character(line_[length])) ++length;
    return line_.substr(0, length);
  }

  std::string_view text_;
  std::string_view line_;
  std::size_t number_ = 0;
  bool ended_ = false;
};

std::int32_t read_buffer_name(Scanner& in) {
  Scanner before = in;  // to point at the name if it is none
  const auto number = show::buffer_from_name(in.word("the name of a buffer"));
  if (!number) before.fail_expecting("'send', 'recv' or 'scratch2', 'scratch3', ...");
  return *number;
}

void read_header(Scanner& in, Schedule& schedule) {
  in.expect_mark(show::format_name);
  if (in.number(0, std::numeric_limits<std::int64_t>::max()) != show::format_version) {
    in.fail(fmt::format("this is not version {} of the form", show::format_version));
  }
  in.expect_line_end();

  in.expect_word("id");
  schedule.id = in.name("an id like 'allreduce/ring'");
  in.expect_line_end();

  in.expect_word("collective");
  const Scanner before = in;
  const auto collective = collective_from_string(in.word("the name of a collective"));
  if (!collective) before.fail_expecting("the name of a collective");
  schedule.collective = *collective;
  in.expect_line_end();

  in.expect_word("rank");
  schedule.shape.rank = in.number();
  in.expect_word("of");
  schedule.shape.size = in.number();
  in.expect_line_end();

  in.expect_word("root");
  schedule.shape.root = in.number();
  in.expect_line_end();

  in.expect_word("in_place");
  if (in.accept_word("yes")) {
    schedule.shape.in_place = true;
  } else if (!in.accept_word("no")) {
    in.fail_expecting("'yes' or 'no'");
  }
  in.expect_line_end();

  while (in.accept_word("param")) {
    std::string name = in.name("the name of a parameter");
    const std::int64_t value =
        in.number(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    if (!schedule.shape.params.emplace(std::move(name), value).second) in.fail("a parameter is given twice");
    in.expect_line_end();
  }

  in.expect_word("blocks");
  schedule.user_blocks = in.number();
  in.expect_word("x");
  schedule.segments = in.number();
  in.expect_line_end();

  in.expect_word("rounds");
  schedule.rounds = static_cast<std::uint32_t>(in.number());
  in.expect_line_end();
}

void read_buffers(Scanner& in, Schedule& schedule) {
  while (in.accept_word("buffer")) {
    const auto number = static_cast<std::int32_t>(schedule.buffers.size());
    in.expect_word(show::buffer_name(number));  // in order, none left out
    in.expect_mark(":");
    Buffer buffer;
    buffer.storage = number;
    buffer.slots = in.number();
    in.expect_word("slots");
    if (in.accept_word("holding")) {
      while (!in.at_line_end() && !in.next_is(",")) buffer.list.push_back(in.number());
      if (static_cast<Slot>(buffer.list.size()) != buffer.slots || buffer.list.empty()) {
        in.fail(fmt::format("{} blocks are listed for {} slots", buffer.list.size(), buffer.slots));
      }
    } else {
      in.expect_word("from");
      buffer.first_block = in.number();
      in.expect_word("by");
      buffer.stride = in.number();
    }
    if (in.accept_mark(",")) {
      in.expect_word("view");
      in.expect_word("of");
      buffer.storage = read_buffer_name(in);
    }
    in.expect_line_end();
    schedule.buffers.push_back(std::move(buffer));
  }
}

Operand read_operand(Scanner& in, Schedule& schedule, std::string_view end) {
  const std::size_t offset = schedule.ranges.size();
  while (end.empty() ? !in.at_line_end() : !(end == "=" ? in.accept_mark(end) : in.accept_word(end))) {
    Range range;
    range.buffer = read_buffer_name(in);
    in.expect_mark("[");
    range.first = in.number();
    in.expect_mark("+");
    range.count = in.number();
    in.expect_mark("]");
    schedule.ranges.push_back(range);
  }
  const std::size_t length = schedule.ranges.size() - offset;
  if (length == 0) return {};
  return {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length)};
}

/// A step, or false if the line says something else.
bool read_step(Scanner& in, Schedule& schedule, std::uint32_t round) {
  const auto kind = std::ranges::find_if(show::step_kind_names, [&](auto name) { return in.accept_word(name); });
  if (kind == show::step_kind_names.end()) return false;
  Step step;
  step.kind = static_cast<StepKind>(kind - show::step_kind_names.begin());
  step.round = round;
  if (is_message(step)) {
    in.expect_mark(step.kind == StepKind::send ? "->" : "<-");
    step.peer = in.number();
    in.expect_mark(":");
  }
  if (step.kind == StepKind::send) {
    step.left = read_operand(in, schedule, "");
  } else if (step.kind == StepKind::recv) {
    step.dst = read_operand(in, schedule, "");
  } else {
    const bool combines_arriving = step.kind == StepKind::recv_reduce;
    step.dst = read_operand(in, schedule, "=");
    step.arrives_left = combines_arriving && in.accept_word("arriving");
    step.left = read_operand(in, schedule, is_reduction(step.kind) ? "op" : "");
    if (combines_arriving && !step.arrives_left) in.expect_word("arriving");
    if (is_reduction(step.kind)) step.right = read_operand(in, schedule, "");
  }
  in.expect_line_end();
  schedule.steps.push_back(step);
  return true;
}

Schedule read_schedule(Scanner& in) {
  Schedule schedule;
  std::vector<std::size_t> lines;  // of the steps
  read_header(in, schedule);
  read_buffers(in, schedule);
  while (in.accept_word("round")) {
    const auto round = static_cast<std::uint32_t>(in.number());
    in.expect_line_end();
    for (std::size_t line = in.number_of_line(); read_step(in, schedule, round); line = in.number_of_line())
      lines.push_back(line);
  }
  while (in.accept_word("edge")) {
    const std::int64_t earlier = in.number();
    in.expect_mark("->");
    const std::int64_t later = in.number();
    in.expect_line_end();
    schedule.edges.emplace_back(static_cast<StepIndex>(earlier), static_cast<StepIndex>(later));
  }
  if (!in.accept_word("end")) in.fail_expecting("a step, 'buffer', 'round', 'edge' or 'end', in this order");
  in.expect_line_end();
  try {
    check_structure(schedule);
  } catch (const StructureError& error) {
    if (error.step() < 0) throw;
    throw error.at_line(lines[static_cast<std::size_t>(error.step())]);
  }
  return schedule;
}

}  // namespace

Schedule schedule_from_text(std::string_view text) {
  Scanner in(text);
  Schedule schedule = read_schedule(in);
  if (!in.at_line_end()) in.fail_expecting("the end of the text");
  return schedule;
}

std::vector<Schedule> schedules_from_text(std::string_view text) {
  std::vector<Schedule> schedules;
  for (Scanner in(text); !in.at_line_end();) schedules.push_back(read_schedule(in));
  return schedules;
}

}  // namespace circoll
