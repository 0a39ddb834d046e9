// The symbolic memory of one rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "circoll/schedule.hpp"
#include "schedule/walker.hpp"
#include "symbolic/expressions.hpp"

namespace circoll::symbolic {

/// The memory of one rank has a value per slot. Views of one storage are in the same place; the send buffer is implied.
class Memory {
 public:
  Memory(const Schedule& schedule, bool contributions_by_rank)
      : schedule_(&schedule),
        offset_(schedule.buffers.size(), 0),
        live_(schedule.buffers.size(), -1),
        by_rank_(contributions_by_rank) {
    std::vector<Slot> size(schedule.buffers.size(), 0);
    for (std::size_t i = 1; i < schedule.buffers.size(); ++i) {
      Slot& s = size[static_cast<std::size_t>(schedule.buffers[i].storage)];
      s = std::max(s, schedule.buffers[i].slots);
    }
    std::vector<std::size_t> start(size.size(), 0);
    std::size_t sum = 0;
    for (std::size_t i = 1; i < size.size(); ++i) {
      start[i] = sum;
      sum += static_cast<std::size_t>(size[i]);
    }
    for (std::size_t i = 1; i < offset_.size(); ++i)
      offset_[i] = start[static_cast<std::size_t>(schedule.buffers[i].storage)];
    values_.assign(sum, undefined);
  }

  /// Puts the contribution where the contract says. In the send buffer it is implied.
  void fill_input(const Expressions& expressions, const CollectiveContract& contract) {
    if (contract.input_buffer == send_buffer) return;
    for (Slot i = 0; i < contract.input_count; ++i) {
      values_[offset_[1] + static_cast<std::size_t>(contract.input_first + i)] =
          contribution(expressions, schedule_->block_of(recv_buffer, contract.input_first + i));
    }
  }

  /// Takes over the values of a memory whose buffers are the first ones of this one.
  void adopt(const Memory& other) {
    std::copy(other.values_.begin(), other.values_.end(), values_.begin());
    std::copy(other.live_.begin(), other.live_.end(), live_.begin());
  }

  [[nodiscard]] Value contribution(const Expressions& expressions, Block block) const {
    return expressions.leaf(by_rank_ ? schedule_->shape.rank : 0, block);
  }

  [[nodiscard]] Value load(const Expressions& expressions, std::int32_t buffer, Slot slot) const {
    if (buffer == send_buffer) return contribution(expressions, schedule_->block_of(buffer, slot));
    const auto storage = static_cast<std::size_t>(schedule_->buffers[static_cast<std::size_t>(buffer)].storage);
    if (live_[storage] >= 0 && live_[storage] != buffer) return undefined;
    return values_[offset_[static_cast<std::size_t>(buffer)] + static_cast<std::size_t>(slot)];
  }

  /// Values of the next values.size() <= w.left() slots.
  void load(const Expressions& expressions, const Walker& w, std::span<Value> values) const {
    if (w.buffer() == send_buffer) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = contribution(expressions, w.block(static_cast<std::int64_t>(i)));
      }
      return;
    }
    const auto storage = static_cast<std::size_t>(schedule_->buffers[static_cast<std::size_t>(w.buffer())].storage);
    if (live_[storage] >= 0 && live_[storage] != w.buffer()) {
      std::fill(values.begin(), values.end(), undefined);
      return;
    }
    std::copy_n(values_.begin() + place(w), values.size(), values.begin());
  }

  /// Calls f(buffer, slot, block, value) for everything that lies in the receive buffer and in scratch memory.
  template <typename F>
  void each_value(F&& f) const {
    for (std::size_t i = 1; i < schedule_->buffers.size(); ++i) {
      const auto buffer = static_cast<std::int32_t>(i);
      const std::int32_t live = live_[static_cast<std::size_t>(schedule_->buffers[i].storage)];
      if (live >= 0 && live != buffer) continue;
      for (Slot slot = 0; slot < schedule_->buffers[i].slots; ++slot) {
        const Value value = values_[offset_[i] + static_cast<std::size_t>(slot)];
        if (value != undefined) f(buffer, slot, schedule_->block_of(buffer, slot), value);
      }
    }
  }

  /// Makes a view the live one before it is written.
  void enter(std::int32_t buffer) {
    const auto storage = static_cast<std::size_t>(schedule_->buffers[static_cast<std::size_t>(buffer)].storage);
    if (live_[storage] == buffer) return;
    if (live_[storage] >= 0) {
      const Slot old = schedule_->buffers[static_cast<std::size_t>(live_[storage])].slots;
      const Slot now = schedule_->buffers[static_cast<std::size_t>(buffer)].slots;
      const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(offset_[storage]);
      std::fill(begin, begin + static_cast<std::ptrdiff_t>(std::max(old, now)), undefined);
    }
    live_[storage] = buffer;
  }
  void store(const Walker& w, std::span<const Value> values) {
    std::copy(values.begin(), values.end(), values_.begin() + place(w));
  }

 private:
  [[nodiscard]] std::ptrdiff_t place(const Walker& w) const {
    return static_cast<std::ptrdiff_t>(offset_[static_cast<std::size_t>(w.buffer())]) + w.slot();
  }

  const Schedule* schedule_;
  std::vector<std::size_t> offset_;  // of each buffer in values_
  std::vector<std::int32_t> live_;   // of each storage
  std::vector<Value> values_;
  bool by_rank_;
};

}  // namespace circoll::symbolic
