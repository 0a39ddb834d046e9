#include "circoll/schedule.hpp"

#include <string>

#include "circoll/error.hpp"

namespace circoll {

Block Schedule::block_of(std::int32_t buffer, Slot slot) const {
  const Buffer& b = buffers[static_cast<std::size_t>(buffer)];
  if (!b.list.empty()) return b.list[static_cast<std::size_t>(slot)];
  return (b.first_block + slot * b.stride) % blocks();
}

std::int64_t Schedule::count(Operand o) const {
  std::int64_t sum = 0;
  for (const Range& range : operand(o)) sum += range.count;
  return sum;
}

namespace {

/// The place of an error.
struct StructurePlace {
  Rank rank;
  std::int64_t step = -1;

  [[noreturn]] void fail(const std::string& problem) const { throw StructureError(rank, step, problem); }
};

void check_operand(const Schedule& schedule, Operand o, const StructurePlace& place) {
  if (o.length > schedule.ranges.size() || o.offset > schedule.ranges.size() - o.length) {
    place.fail("operand outside the list of ranges");
  }
  for (const Range& range : schedule.operand(o)) {
    if (range.buffer < 0 || static_cast<std::size_t>(range.buffer) >= schedule.buffers.size()) {
      place.fail("no buffer " + std::to_string(range.buffer));
    }
    const Slot slots = schedule.buffers[static_cast<std::size_t>(range.buffer)].slots;
    if (range.count < 1 || range.count > slots || range.first < 0 || range.first >= slots) {
      place.fail("slots " + std::to_string(range.first) + "+" + std::to_string(range.count) + " are outside buffer " +
                 std::to_string(range.buffer) + " of " + std::to_string(slots));
    }
  }
}

void check_buffers(const Schedule& schedule) {
  const StructurePlace place{schedule.shape.rank};
  if (schedule.buffers.size() < first_scratch_buffer) place.fail("the send and receive buffers are missing");
  for (std::size_t i = 0; i < schedule.buffers.size(); ++i) {
    const Buffer& b = schedule.buffers[i];
    const std::string name = "buffer " + std::to_string(i);
    if (b.slots < 0) place.fail(name + ": a negative number of slots");
    if (b.stride < 0 || b.stride > schedule.blocks() || b.first_block < 0 || b.first_block >= schedule.blocks()) {
      place.fail(name + ": blocks outside the vector");
    }
    if (!b.list.empty() && static_cast<Slot>(b.list.size()) != b.slots)
      place.fail(name + ": as many blocks as slots are listed");
    for (const Block block : b.list) {
      if (block < 0 || block >= schedule.blocks()) place.fail(name + ": no block " + std::to_string(block));
    }
    const bool user = i < first_scratch_buffer;
    if (user ? b.storage != static_cast<std::int32_t>(i)
             : b.storage < first_scratch_buffer || static_cast<std::size_t>(b.storage) > i) {
      place.fail(name + ": storage " + std::to_string(b.storage) +
                 " is not its own or that of an earlier scratch buffer");
    }
  }
}

}  // namespace

StructureError::StructureError(Rank rank, std::int64_t step, const std::string& problem, std::size_t line)
    : Error(ErrorCode::invalid_argument,
            "schedule of rank " + std::to_string(rank) + (step < 0 ? std::string() : ", step " + std::to_string(step)) +
                (line == 0 ? std::string() : " (line " + std::to_string(line) + ")") + ": " + problem),
      rank_(rank),
      step_(step),
      problem_(problem) {}

void check_structure(const Schedule& schedule) {
  const Shape& shape = schedule.shape;
  StructurePlace place{shape.rank};
  if (shape.size < 1 || shape.rank < 0 || shape.rank >= shape.size || shape.root < 0 || shape.root >= shape.size) {
    place.fail("rank or root outside 0 .. p-1");
  }
  constexpr std::int64_t most_blocks = std::int64_t{1} << 62;
  if (schedule.user_blocks < 1 || schedule.segments < 1 || schedule.user_blocks > most_blocks / schedule.segments) {
    place.fail("the number of blocks is not positive, or too large");
  }
  check_buffers(schedule);
  std::uint32_t round = 0;
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    place.step = static_cast<std::int64_t>(i);
    check_operand(schedule, step.dst, place);
    check_operand(schedule, step.left, place);
    check_operand(schedule, step.right, place);
    if (step.round < round || step.round > schedule.rounds) place.fail("rounds must not decrease, nor pass the last");
    round = step.round;
    const bool message = is_message(step);
    if (message && (step.peer < 0 || step.peer >= shape.size || step.peer == shape.rank)) {
      place.fail(step.peer == shape.rank ? "the peer is its own rank" : "no peer " + std::to_string(step.peer));
    }
    if (message && step.round >= schedule.rounds)
      place.fail("a message after the last round; is a next_round() missing behind it?");
    const std::int64_t dst = schedule.count(step.dst);
    const std::int64_t left = schedule.count(step.left);
    const std::int64_t right = schedule.count(step.right);
    const bool lengths_fit = step.kind == StepKind::send   ? dst == 0 && right == 0
                             : step.kind == StepKind::recv ? left == 0 && right == 0
                             : is_reduction(step.kind)     ? dst == left && dst == right && dst > 0
                                                           : dst == left && right == 0 && dst > 0;
    if (!lengths_fit) place.fail("operands of wrong lengths");
    if (step.kind != StepKind::recv_reduce) continue;
    for (const Range& range : schedule.operand(message_operand(step))) {
      if (range.buffer < first_scratch_buffer) place.fail("a message that is combined arrives in scratch");
    }
  }
  place.step = -1;
  for (const auto& [earlier, later] : schedule.edges) {
    if (earlier >= later || later >= schedule.steps.size())
      place.fail("an edge does not lead from a step to a later one");
  }
}

}  // namespace circoll
