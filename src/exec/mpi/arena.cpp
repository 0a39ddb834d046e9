#include "exec/mpi/arena.hpp"

#include <bit>
#include <new>

namespace circoll::mpi {

ArenaPool::Block ArenaPool::acquire(std::size_t bytes) {
  if (bytes == 0) return {};
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = free_.size(); i-- > 0;) {
      if (free_[i].bytes < bytes) continue;
      const Block block = free_[i];
      free_[i] = free_.back();
      free_.pop_back();
      free_bytes_ -= block.bytes;
      return block;
    }
    free_.reserve(free_.size() + 4);  // so that release() does not allocate
  }
  // Powers of two up to 1 MiB, then whole MiB: sizes that vary from call to call meet the same blocks.
  constexpr std::size_t mebi = std::size_t{1} << 20;
  const std::size_t rounded = bytes <= mebi ? std::bit_ceil(bytes) : (bytes + mebi - 1) / mebi * mebi;
  void* data = ::operator new (rounded, std::align_val_t{alignment});
  return {static_cast<std::byte*>(data), rounded};
}

void ArenaPool::release(Block block) noexcept {
  if (block.data == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    // A block that was too small for the last caller is not worth keeping beside a larger one, but harmless.
    if (free_bytes_ + block.bytes <= kept_bytes && free_.size() < free_.capacity()) {
      free_.push_back(block);
      free_bytes_ += block.bytes;
      return;
    }
  }
  ::operator delete (block.data, std::align_val_t{alignment});
}

}  // namespace circoll::mpi
