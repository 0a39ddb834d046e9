// A walk over the slots of an operand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "circoll/schedule.hpp"

namespace circoll {

/// A walk in runs, so that long ranges cost little: left() adjacent slots from slot() hold the blocks block(0),
/// block(1), ...
class Walker {
 public:
  Walker(const Schedule& schedule, std::span<const Range> ranges) : schedule_(&schedule), ranges_(ranges) { settle(); }
  Walker(const Schedule& schedule, Operand o) : Walker(schedule, schedule.operand(o)) {}

  [[nodiscard]] bool done() const { return ranges_.empty(); }
  [[nodiscard]] std::int32_t buffer() const { return ranges_.front().buffer; }
  [[nodiscard]] Slot slot() const { return slot_; }
  /// The block in slot() + i, i < left().
  [[nodiscard]] Block block(std::int64_t i = 0) const { return list_ != nullptr ? list_[i] : block_ + i * stride_; }
  [[nodiscard]] std::int64_t left() const { return left_; }
  /// From one of these blocks to the next; nothing if they are listed.
  [[nodiscard]] std::optional<std::int64_t> stride() const {
    return list_ == nullptr ? std::optional(stride_) : std::nullopt;
  }
  /// Goes on by n <= left() slots.
  void advance(std::int64_t n = 1) {
    taken_ += n;
    if (taken_ == ranges_.front().count) {
      taken_ = 0;
      ranges_ = ranges_.subspan(1);
      settle();
    } else if (n < left_) {
      slot_ += n;
      left_ -= n;
      if (list_ != nullptr) {
        list_ += n;
      } else {
        block_ += n * stride_;
      }
    } else {
      settle();
    }
  }

  /// The first i < n at which the blocks differ; -1 if none does.
  [[nodiscard]] std::int64_t mismatch(const Walker& other, std::int64_t n) const {
    const bool alike = list_ == nullptr && other.list_ == nullptr && stride_ == other.stride_;
    for (std::int64_t i = 0; i < (alike ? 1 : n); ++i) {
      if (block(i) != other.block(i)) return i;
    }
    return -1;
  }

 private:
  /// Finds the longest run from the current place, up to the end of the range, the buffer, or the blocks.
  void settle() {
    if (ranges_.empty()) return;
    const Range& range = ranges_.front();
    const Buffer& buffer = schedule_->buffers[static_cast<std::size_t>(range.buffer)];
    slot_ = range.first + taken_;
    if (slot_ >= buffer.slots) slot_ -= buffer.slots;
    left_ = std::min(range.count - taken_, buffer.slots - slot_);
    list_ = buffer.list.empty() ? nullptr : buffer.list.data() + slot_;
    if (list_ != nullptr) return;
    stride_ = buffer.stride;
    block_ = buffer.first_block + slot_ * stride_;
    if (block_ >= schedule_->blocks()) block_ %= schedule_->blocks();
    if (left_ > 1 && stride_ > 0) left_ = std::min(left_, (schedule_->blocks() - 1 - block_) / stride_ + 1);
  }
  const Schedule* schedule_;
  std::span<const Range> ranges_;
  std::int64_t taken_ = 0;  // of the first range
  Slot slot_ = 0;
  std::int64_t left_ = 0;
  const Block* list_ = nullptr;  // the blocks, if listed; else block_, block_ + stride_, ...
  Block block_ = 0;
  std::int64_t stride_ = 1;
};

/// Calls use(buffer, first, end) for the slots [first, end) of an operand, stretch by stretch. None is cyclic.
template <typename Use>
void each_stretch(const Schedule& schedule, Operand operand, Use use) {
  for (const Range& range : schedule.operand(operand)) {
    const Slot slots = schedule.buffers[static_cast<std::size_t>(range.buffer)].slots;
    const Slot end = range.first + range.count;
    use(range.buffer, range.first, std::min(end, slots));
    if (end > slots) use(range.buffer, Slot{0}, end - slots);
  }
}

/// The first block of a message, or -1 if it has none.
[[nodiscard]] inline Block first_block(const Schedule& s, StepIndex step) {
  const Walker w(s, message_operand(s.steps[step]));
  return w.done() ? -1 : w.block();
}

}  // namespace circoll
