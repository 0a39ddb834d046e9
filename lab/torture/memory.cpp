#include "memory.hpp"

#include <algorithm>

namespace circoll::torture {

Memory::Memory(Count low, Count high) {
  constexpr Count alignment = 64;
  low = std::min<Count>(low, high);
  // The vector's memory is aligned to 16 bytes, which suffices for every base type.
  origin_ = (guard_bytes - low) / alignment * alignment;
  if (origin_ + low < guard_bytes) origin_ += alignment;
  bytes_.resize(static_cast<std::size_t>(origin_ + high + guard_bytes));
}

}  // namespace circoll::torture
