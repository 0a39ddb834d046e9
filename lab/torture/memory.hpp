// Memory that shows misuse: buffers between guards, and arrays whose pages are gone once they are freed.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::torture {

/// A buffer between guards.
class Memory {
 public:
  static constexpr Count guard_bytes = 64;

  Memory() : Memory(0, 0) {}
  /// Bytes `low` to `high` (exclusive) from its address, which may lie outside of them.
  Memory(Count low, Count high) {
    constexpr Count alignment = 64;
    low = std::min<Count>(low, high);
    // The vector's memory is aligned to 16 bytes, which suffices for every base type.
    origin_ = (guard_bytes - low) / alignment * alignment;
    if (origin_ + low < guard_bytes) origin_ += alignment;
    bytes_.resize(static_cast<std::size_t>(origin_ + high + guard_bytes));
  }

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
  Count origin_ = 0;
  std::vector<std::byte> bytes_;
};

/// Allocates whole pages. Whoever reads them once they are freed crashes.
template <typename T>
struct PageAllocator {
  using value_type = T;

  PageAllocator() = default;
  template <typename U>
  PageAllocator(const PageAllocator<U>& /*other*/) {}  // NOLINT(google-explicit-constructor): as allocators are

  T* allocate(std::size_t n) {
    void* const pages = ::mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(pages);
  }
  void deallocate(T* pages, std::size_t n) { ::munmap(pages, n * sizeof(T)); }

  friend bool operator==(const PageAllocator& /*a*/, const PageAllocator& /*b*/) { return true; }
};

}  // namespace circoll::torture
