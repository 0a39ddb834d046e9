#include "show/form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "circoll/error.hpp"
#include "circoll/text.hpp"

namespace circoll {

Schedule normalised(const Schedule& schedule) {
  check_structure(schedule);
  Schedule result = schedule;
  result.shape.labels.reset();  // the steps are those of the labels already
  for (Buffer& buffer : result.buffers) {
    if (!buffer.list.empty()) {
      buffer.first_block = 0;
      buffer.stride = 1;
    }
  }
  result.ranges.clear();
  const auto place = [&](Operand& operand) {
    if (operand.length == 0) {
      operand = {};
      return;
    }
    const auto ranges = schedule.operand(operand);
    operand.offset = static_cast<std::uint32_t>(result.ranges.size());
    result.ranges.insert(result.ranges.end(), ranges.begin(), ranges.end());
  };
  for (Step& step : result.steps) {
    if (!is_message(step)) step.peer = -1;
    if (step.kind != StepKind::recv_reduce) step.arrives_left = false;
    place(step.dst);
    place(step.left);
    place(step.right);
  }
  return result;
}

namespace show {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_./:=,+-").find(c) != std::string_view::npos;
}

bool is_name(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_name_character); }

std::string buffer_name(std::int32_t buffer) {
  if (buffer == send_buffer) return "send";
  if (buffer == recv_buffer) return "recv";
  return fmt::format("scratch{}", buffer);
}

std::optional<std::int32_t> buffer_from_name(std::string_view name) {
  if (name == "send") return send_buffer;
  if (name == "recv") return recv_buffer;
  constexpr std::string_view scratch = "scratch";
  if (!name.starts_with(scratch)) return std::nullopt;
  name.remove_prefix(scratch.size());
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  if (number < first_scratch_buffer || name.front() == '0') return std::nullopt;
  return number;
}

Schedule writable(const Schedule& schedule) {
  const auto check_name = [](std::string_view name, std::string_view what) {
    if (is_name(name)) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a schedule cannot be written: {} {} has characters other than A-Za-z0-9_./:=,+-, or none",
                            what, excerpt(name)));
  };
  const auto check_number = [](std::int64_t number, std::string_view what) {
    if (number >= 0 && number <= largest_number) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a schedule cannot be written: {} {} is not in 0 .. 2^31 - 1", what, number));
  };
  Schedule result = normalised(schedule);
  check_name(result.id, "the id");
  for (const auto& [name, value] : result.shape.params) check_name(name, "the parameter");
  check_number(result.shape.size, "p =");  // bounds rank, root and peers
  check_number(result.user_blocks, "the number of user blocks");
  check_number(result.segments, "the number of segments");
  check_number(result.rounds, "the number of rounds");
  check_number(static_cast<std::int64_t>(result.steps.size()), "the number of steps");
  for (const Buffer& buffer : result.buffers) {
    check_number(buffer.slots, "a number of slots");
    check_number(buffer.first_block, "a block");
    check_number(buffer.stride, "a stride");
    for (const Block block : buffer.list) check_number(block, "a block");
  }
  return result;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 24;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) result += c >= ' ' && c <= '~' ? c : '?';
  result += text.size() > longest ? "...'" : "'";
  return result;
}

}  // namespace show
}  // namespace circoll
