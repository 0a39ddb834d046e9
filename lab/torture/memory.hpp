// A buffer between guards.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::torture {

class Memory {
 public:
  static constexpr Count guard_bytes = 64;

  Memory() : Memory(0, 0) {}
  /// Bytes `low` to `high` (exclusive) from its address, which may lie outside of them.
  Memory(Count low, Count high);

  [[nodiscard]] std::byte* address() { return bytes_.data() + origin_; }
  [[nodiscard]] const std::byte* address() const { return bytes_.data() + origin_; }
  /// Everything, guards as well.
  [[nodiscard]] std::span<std::byte> bytes() { return bytes_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// Of a place in bytes(): the distance from the address.
  [[nodiscard]] Count offset_of(std::size_t place) const { return static_cast<Count>(place) - origin_; }
  [[nodiscard]] bool in_guard(std::size_t place) const {
    return place < static_cast<std::size_t>(guard_bytes) ||
           place + static_cast<std::size_t>(guard_bytes) >= bytes_.size();
  }

 private:
  Count origin_;
  std::vector<std::byte> bytes_;
};

}  // namespace circoll::torture
