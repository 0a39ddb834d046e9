#include "schedule/rotation.hpp"

#include <string>
#include <utility>
#include <vector>

#include "circoll/error.hpp"

namespace circoll {
namespace {

Block blocks_per_rank(const Schedule& schedule, Rotation rotation) {
  if (schedule.user_blocks > 1) return schedule.segments;
  if (rotation != Rotation::parts) return 0;
  require(schedule.blocks() % schedule.shape.size == 0,
          "a vector whose parts are rotated has the same number for each rank");
  return schedule.blocks() / schedule.shape.size;
}

/// Scratch: its slots stay where they are, and hold other blocks.
void turn_blocks(Schedule& schedule, const Turn& turn, std::int32_t number) {
  if (turn.keeps_blocks()) return;
  Buffer& buffer = schedule.buffers[static_cast<std::size_t>(number)];
  for (Block& block : buffer.list) block = turn.block(block);
  if (!buffer.list.empty()) return;
  if (!turn.is_exchange() || buffer.slots <= 1 || buffer.stride == 0) {
    buffer.first_block = turn.block(buffer.first_block);
    return;
  }
  std::vector<Block> list;
  list.reserve(static_cast<std::size_t>(buffer.slots));
  for (Slot slot = 0; slot < buffer.slots; ++slot) list.push_back(turn.block(schedule.block_of(number, slot)));
  buffer = {.slots = buffer.slots, .list = std::move(list), .storage = buffer.storage};
}

}  // namespace

Turn::Turn(const Schedule& schedule, Rotation rotation, Rank by)
    : size_(schedule.shape.size),
      by_(by),
      exchange_(circoll::is_exchange(schedule.collective)),
      blocks_(schedule.blocks()),
      blocks_per_rank_(circoll::blocks_per_rank(schedule, rotation)),
      turning_slots_(blocks_per_rank_ * size_) {}

Block Turn::block(Block block) const {
  if (!exchange_) return sum(block, by_ * blocks_per_rank_, blocks_);
  const Block pair = block / blocks_per_rank_;
  return (rank(pair / size_) * size_ + rank(pair % size_)) * blocks_per_rank_ + block % blocks_per_rank_;
}

void rotate(Schedule& schedule, Rotation rotation, Rank by) {
  if (is_rooted(schedule.collective) || is_prefix(schedule.collective)) {
    throw Error(ErrorCode::unsupported, "not all ranks do the same in " + std::string(to_string(schedule.collective)));
  }
  require(rotation != Rotation::none && by >= 0 && by < schedule.shape.size, "a rotation goes 0 .. p-1 ranks on");
  if (by == 0) return;
  const Turn turn(schedule, rotation, by);
  schedule.shape.rank = turn.rank(schedule.shape.rank);
  const CollectiveContract contract = contract_of(schedule.collective, schedule.shape, schedule.segments);
  schedule.buffers[send_buffer] = contract.send;
  schedule.buffers[recv_buffer] = contract.recv;
  for (std::size_t i = first_scratch_buffer; i < schedule.buffers.size(); ++i) {
    turn_blocks(schedule, turn, static_cast<std::int32_t>(i));
  }
  for (Range& range : schedule.ranges) {
    if (range.buffer >= first_scratch_buffer) continue;
    range.first = turn.slot(range.first, schedule.buffers[static_cast<std::size_t>(range.buffer)].slots);
  }
  for (Step& step : schedule.steps) {
    if (step.peer >= 0) step.peer = turn.rank(step.peer);
  }
}

Schedule rotated(const Schedule& schedule, Rotation rotation, Rank by) {
  Schedule result = schedule;
  rotate(result, rotation, by);
  return result;
}

}  // namespace circoll
