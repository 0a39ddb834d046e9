#include "plan/addresses.hpp"

#include <numeric>

#include "circoll/error.hpp"

namespace circoll {
namespace {

constexpr Count storage_alignment_bytes = 64;  // a cache line: neighbouring storages never share one

Count checked_sum(Count a, Count b) {
  Count sum = 0;
  require(!__builtin_add_overflow(a, b, &sum), "bind: the buffers exceed 2^63 bytes");
  return sum;
}

}  // namespace

Count checked_bytes(Count elements, Count extent_bytes) {
  Count bytes = 0;
  require(!__builtin_mul_overflow(elements, extent_bytes, &bytes), "bind: the buffers exceed 2^63 bytes");
  return bytes;
}

Addresses::Addresses(const Schedule& schedule, const Layout& layout, Count extent_bytes,
                     const Displacements& displacements)
    : schedule_(&schedule),
      layout_(&layout),
      extent_bytes_(extent_bytes),
      displacements_(displacements),
      even_(layout.is_uniform() && layout.user_count(0) % layout.segments() == 0) {
  require(layout.user_blocks() == schedule.user_blocks && layout.segments() == schedule.segments,
          "bind: the layout has other blocks than the schedule");
  require(extent_bytes >= 0, "bind: the extent is negative");
  (void)checked_bytes(layout.total(), extent_bytes);
  const auto buffers = static_cast<std::int32_t>(schedule.buffers.size());
  rows_.reserve(schedule.buffers.size());
  for (std::int32_t buffer = 0; buffer < buffers; ++buffer) {
    rows_.push_back(row_of(buffer));
    const std::span<const Count> given = displacements_of(buffer);
    const Slot slots = schedule.buffers[index(buffer)].slots;
    require(given.empty() || static_cast<Slot>(given.size()) * schedule.segments >= slots,
            "bind: fewer displacements than user blocks");
  }
  place_scratch();
}

Addresses::Row Addresses::row_of(std::int32_t number) const {
  const Buffer& buffer = schedule_->buffers[index(number)];
  Row row;
  if (buffer.slots == 0) return row;
  std::int64_t period = buffer.slots;
  if (buffer.list.empty()) {
    // The sizes repeat as the segments do if all user blocks have the same size.
    if (layout_->is_uniform()) {
      period = std::min(period, layout_->segments() / std::gcd(buffer.stride, layout_->segments()));
    }
    if (buffer.stride == 0) period = 1;
  }
  if (even_ || period == 1) {
    row.slot_elements = layout_->count(schedule_->block_of(number, 0));
  } else if (buffer.list.empty() && buffer.stride == 1) {
    row.kind = Row::Kind::cyclic;
  } else {
    row.kind = Row::Kind::table;
    row.sums.reserve(static_cast<std::size_t>(period) + 1);
    Count sum = 0;
    for (Slot slot = 0; slot < period; ++slot) {
      row.sums.push_back(sum);
      sum = checked_sum(sum, layout_->count(schedule_->block_of(number, slot)));
    }
    row.sums.push_back(sum);
  }
  return row;
}

Count Addresses::prefix(std::int32_t number, Slot slot) const {
  const Row& row = rows_[index(number)];
  switch (row.kind) {
    case Row::Kind::constant:
      return checked_bytes(slot, row.slot_elements);
    case Row::Kind::cyclic: {
      const Block blocks = schedule_->blocks();
      const Block first = schedule_->buffers[index(number)].first_block;
      const Block end = first + slot;
      return checked_bytes(end / blocks, layout_->total()) + layout_->prefix(end % blocks) - layout_->prefix(first);
    }
    case Row::Kind::table: {
      const auto period = static_cast<Slot>(row.sums.size()) - 1;
      return checked_bytes(slot / period, row.sums.back()) + row.sums[static_cast<std::size_t>(slot % period)];
    }
  }
  return 0;
}

void Addresses::place_scratch() {
  // Views of one storage lie on one another; it is as large as the largest of them.
  std::vector<Count> bytes_of;
  const auto buffers = static_cast<std::int32_t>(schedule_->buffers.size());
  for (std::int32_t buffer = first_scratch_buffer; buffer < buffers; ++buffer) {
    const Buffer& b = schedule_->buffers[index(buffer)];
    check(b.storage >= 0 && index(b.storage) < schedule_->buffers.size(), "bind: a storage number out of range");
    if (bytes_of.size() <= index(b.storage)) bytes_of.resize(index(b.storage) + 1);
    Count& bytes = bytes_of[index(b.storage)];
    bytes = std::max(bytes, checked_bytes(prefix(buffer, b.slots), extent_bytes_));
  }
  for (Count& bytes : bytes_of) {
    const Count size = checked_sum(bytes, storage_alignment_bytes - 1) / storage_alignment_bytes;
    bytes = scratch_bytes_;  // from here on: the offset
    scratch_bytes_ = checked_sum(scratch_bytes_, size * storage_alignment_bytes);
  }
  for (std::int32_t buffer = first_scratch_buffer; buffer < buffers; ++buffer) {
    rows_[index(buffer)].base_bytes = bytes_of[index(schedule_->buffers[index(buffer)].storage)];
  }
}

}  // namespace circoll
