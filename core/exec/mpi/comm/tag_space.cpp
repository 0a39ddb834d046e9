#include "exec/mpi/comm/tag_space.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>

namespace circoll::mpi {

TagLayout TagLayout::of(int largest_tag) {
  // MPICH has 2^28 tags and 2048 communicators, Open MPI 2^31 tags and 65536 communicators.
  constexpr std::uint32_t contexts = 4096;
  const std::uint32_t tags = static_cast<std::uint32_t>(largest_tag) + 1;
  const std::uint32_t unit = std::bit_floor(tags / contexts / context_units);
  return {.unit = static_cast<int>(std::clamp<std::uint32_t>(unit, 4, 256))};
}

int TagLayout::units_for(int tags) const { return std::clamp((tags + unit - 1) / unit, 1, epochs); }

TagSpace::TagSpace(int units) : units_(units), free_units_(units) { free_.emplace(0, units); }

int TagSpace::take(int units, int spare) {
  const std::lock_guard lock(mutex_);
  if (free_units_ - units < spare) return -1;
  const auto found = std::find_if(free_.begin(), free_.end(), [&](const auto& range) { return range.second >= units; });
  if (found == free_.end()) return -1;
  const auto [first, length] = *found;
  if (length > units) free_.emplace_hint(found, first + units, length - units);
  free_.erase(first);
  free_units_ -= units;
  return first;
}

void TagSpace::give_back(int first, int units) noexcept {
  const std::lock_guard lock(mutex_);
  free_units_ += units;
  const auto next = free_.lower_bound(first);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == first) {
      before->second += units;
      if (next != free_.end() && next->first == first + units) {
        before->second += next->second;
        free_.erase(next);
      }
      return;
    }
  }
  try {
    int length = units;
    if (next != free_.end() && next->first == first + units) {
      length += next->second;
      free_.erase(next);
    }
    free_.emplace(first, length);
  } catch (const std::bad_alloc&) {
    free_units_ -= units;  // the range is lost
  }
}

int TagSpace::free_units() const {
  const std::lock_guard lock(mutex_);
  return free_units_;
}

}  // namespace circoll::mpi
