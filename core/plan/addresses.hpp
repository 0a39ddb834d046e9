// Addresses of the slots of a schedule's buffers, once a layout is known.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "circoll/plan.hpp"

namespace circoll {

/// elements * extent_bytes; throws Error(invalid_argument) if it exceeds 2^63.
[[nodiscard]] Count checked_bytes(Count elements, Count extent_bytes);

/// Maps slots to bytes. Construction costs O(buffers), plus O(slots) for buffers with an explicit list or a stride
/// above 1 under an uneven layout. Every query is O(1). Refers to its arguments: they must outlive it.
class Addresses {
 public:
  Addresses(const Schedule& schedule, const Layout& layout, Count extent_bytes,
            const Displacements& displacements = {});

  [[nodiscard]] static Area area_of(std::int32_t buffer) {
    return buffer == send_buffer ? Area::send : buffer == recv_buffer ? Area::recv : Area::scratch;
  }
  /// Elements in slots 0 .. slot - 1 of a buffer; slot may be equal to the number of slots.
  [[nodiscard]] Count prefix(std::int32_t number, Slot slot) const;
  [[nodiscard]] Count scratch_bytes() const { return scratch_bytes_; }

  /// Calls emit(Piece) for the contiguous parts of a range, in order. Parts may be empty or adjacent.
  template <typename Emit>
  void pieces(const Range& range, Emit&& emit) const {
    const Slot slots = schedule_->buffers[index(range.buffer)].slots;
    const Slot end = range.first + range.count;
    linear(range.buffer, range.first, std::min(end, slots), emit);
    if (end > slots) linear(range.buffer, 0, end - slots, emit);
  }

 private:
  struct Row {
    /// The sequence of the sizes of the slots.
    enum class Kind : std::uint8_t { constant, cyclic, table } kind = Kind::constant;
    Count slot_elements = 0;    ///< constant: elements of every slot
    Count base_bytes = 0;       ///< scratch: where the storage begins
    std::vector<Count> sums{};  ///< table: elements before slot i, for one period; the last entry is the period's sum
  };

  static std::size_t index(std::int32_t buffer) { return static_cast<std::size_t>(buffer); }
  [[nodiscard]] Row row_of(std::int32_t number) const;
  void place_scratch();
  [[nodiscard]] std::span<const Count> displacements_of(std::int32_t buffer) const {
    return buffer == send_buffer   ? displacements_.send
           : buffer == recv_buffer ? displacements_.recv
                                   : std::span<const Count>{};
  }

  template <typename Emit>
  void linear(std::int32_t buffer, Slot first, Slot end, Emit&& emit) const {
    const Area area = area_of(buffer);
    const std::span<const Count> displacements = displacements_of(buffer);
    if (displacements.empty()) {
      const Count before = prefix(buffer, first);
      emit(Piece{rows_[index(buffer)].base_bytes + before * extent_bytes_, prefix(buffer, end) - before, area});
      return;
    }
    // The caller's buffer, user block by user block; the segments of one are adjacent.
    const std::int64_t segments = schedule_->segments;
    for (Slot slot = first; slot < end;) {
      const Slot next = std::min(end, (slot / segments + 1) * segments);
      const Count start = displacements[static_cast<std::size_t>(slot / segments)] +
                          layout_->segment_offset(schedule_->block_of(buffer, slot));
      emit(Piece{checked_bytes(start, extent_bytes_), prefix(buffer, next) - prefix(buffer, slot), area});
      slot = next;
    }
  }

  const Schedule* schedule_;
  const Layout* layout_;
  Count extent_bytes_;
  Displacements displacements_;
  bool even_;  // all blocks have the same size
  std::vector<Row> rows_;
  Count scratch_bytes_ = 0;
};

/// Walks over a list of pieces from front to back, taking any number of elements at a time.
class Cursor {
 public:
  Cursor(std::span<const Piece> pieces, Count extent_bytes) : pieces_(pieces), extent_bytes_(extent_bytes) {}

  [[nodiscard]] bool at_end() const { return pieces_.empty(); }
  [[nodiscard]] Count available() const { return pieces_.front().elements - taken_; }
  Piece take(Count elements) {
    const Piece& front = pieces_.front();
    const Piece piece{front.offset_bytes + taken_ * extent_bytes_, elements, front.area};
    taken_ += elements;
    if (taken_ == front.elements) {
      pieces_ = pieces_.subspan(1);
      taken_ = 0;
    }
    return piece;
  }

 private:
  std::span<const Piece> pieces_;
  Count extent_bytes_;
  Count taken_ = 0;
};

}  // namespace circoll
