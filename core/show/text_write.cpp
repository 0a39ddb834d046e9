// The text form, written. Every word here has its twin in text_read.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <vector>

#include "circoll/text.hpp"
#include "show/form.hpp"

namespace circoll {
namespace {

using Out = std::back_insert_iterator<std::string>;

void write_ranges(Out out, const Schedule& schedule, Operand operand) {
  for (const Range& range : schedule.operand(operand)) {
    fmt::format_to(out, " {}[{}+{}]", show::buffer_name(range.buffer), range.first, range.count);
  }
}

void write_buffer_line(Out out, const Schedule& schedule, std::int32_t number) {
  const Buffer& buffer = schedule.buffers[static_cast<std::size_t>(number)];
  fmt::format_to(out, "buffer {}: {} slots ", show::buffer_name(number), buffer.slots);
  if (buffer.list.empty()) {
    fmt::format_to(out, "from {} by {}", buffer.first_block, buffer.stride);
  } else {
    fmt::format_to(out, "holding {}", fmt::join(buffer.list, " "));
  }
  if (buffer.storage != number) fmt::format_to(out, ", view of {}", show::buffer_name(buffer.storage));
  fmt::format_to(out, "\n");
}

void write_step_line(Out out, const Schedule& schedule, const Step& step) {
  const bool combines_arriving = step.kind == StepKind::recv_reduce;
  fmt::format_to(out, "  {}", show::name_of(step.kind));
  if (is_message(step)) fmt::format_to(out, " {} {}:", step.kind == StepKind::send ? "->" : "<-", step.peer);
  if (step.kind != StepKind::send) write_ranges(out, schedule, step.dst);
  if (!is_message(step) || combines_arriving) fmt::format_to(out, " =");
  if (combines_arriving && step.arrives_left) fmt::format_to(out, " arriving");
  if (step.kind != StepKind::recv) write_ranges(out, schedule, step.left);
  if (!is_reduction(step.kind)) return;
  fmt::format_to(out, " op{}", combines_arriving && !step.arrives_left ? " arriving" : "");
  write_ranges(out, schedule, step.right);
}

}  // namespace

std::string to_text(const Schedule& given) {
  const Schedule schedule = show::writable(given);
  std::string text;
  const Out out = std::back_inserter(text);
  fmt::format_to(out, "{} {}\n", show::format_name, show::format_version);
  fmt::format_to(out, "id {}\n", schedule.id);
  fmt::format_to(out, "collective {}\n", to_string(schedule.collective));
  fmt::format_to(out, "rank {} of {}\n", schedule.shape.rank, schedule.shape.size);
  fmt::format_to(out, "root {}\n", schedule.shape.root);
  fmt::format_to(out, "in_place {}\n", schedule.shape.in_place ? "yes" : "no");
  for (const auto& [name, value] : schedule.shape.params) fmt::format_to(out, "param {} {}\n", name, value);
  fmt::format_to(out, "blocks {} x {}\n", schedule.user_blocks, schedule.segments);
  fmt::format_to(out, "rounds {}\n", schedule.rounds);
  for (std::size_t i = 0; i < schedule.buffers.size(); ++i)
    write_buffer_line(out, schedule, static_cast<std::int32_t>(i));

  // Edges name steps by number, so the steps that they name say theirs.
  std::vector<bool> named(schedule.steps.size());
  for (const auto& [earlier, later] : schedule.edges) named[earlier] = named[later] = true;
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    if (i == 0 || step.round != schedule.steps[i - 1].round) {
      fmt::format_to(out, "round {}{}\n", step.round, step.round == schedule.rounds ? "  # local" : "");
    }
    write_step_line(out, schedule, step);
    if (named[i]) fmt::format_to(out, "  # step {}", i);
    fmt::format_to(out, "\n");
  }
  for (const auto& [earlier, later] : schedule.edges) fmt::format_to(out, "edge {} -> {}\n", earlier, later);
  fmt::format_to(out, "end\n");
  return text;
}

}  // namespace circoll
