#include "exec/mpi/message/arena.hpp"

#include <algorithm>
#include <bit>

#include "exec/mpi/message/data_memory.hpp"

namespace circoll::mpi {

ArenaPool& arenas() {
  static auto* const instance = new ArenaPool;  // never destroyed: threads of the program may still run at exit
  return *instance;
}

ArenaPool::Block ArenaPool::acquire(std::size_t bytes) {
  if (bytes == 0) return {};
  // Powers of two up to 1 MiB, then whole MiB: sizes that vary from call to call meet the same blocks.
  constexpr std::size_t mebi = std::size_t{1} << 20;
  const std::size_t rounded = bytes <= mebi ? std::bit_ceil(bytes) : (bytes + mebi - 1) / mebi * mebi;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = free_.size(); i-- > 0;) {
      if (free_[i].bytes < bytes || keeps_contents(free_[i].bytes) != keeps_contents(rounded)) continue;
      const Block block = free_[i];
      free_[i] = free_.back();
      free_.pop_back();
      free_bytes_ -= block.bytes;
      return block;
    }
    free_.reserve(free_.size() + 4);  // so that release() does not allocate
  }
  return {allocate_bulk(rounded), rounded};
}

void ArenaPool::release(Block block) noexcept {
  if (block.data == nullptr) return;
  if (block.bytes <= kept_bytes) {
    const std::lock_guard lock(mutex_);
    // Smaller blocks make room for a larger one, which can serve their callers too.
    while (free_bytes_ + block.bytes > kept_bytes) {
      const auto least = std::min_element(free_.begin(), free_.end(),
                                          [](const Block& a, const Block& b) { return a.bytes < b.bytes; });
      if (least->bytes >= block.bytes) break;
      free_bulk(least->data, least->bytes);
      free_bytes_ -= least->bytes;
      *least = free_.back();
      free_.pop_back();
    }
    if (free_bytes_ + block.bytes <= kept_bytes && free_.size() < free_.capacity()) {
      free_.push_back(block);
      free_bytes_ += block.bytes;
      return;
    }
  }
  free_bulk(block.data, block.bytes);
}

}  // namespace circoll::mpi
