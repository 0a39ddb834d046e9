#include "exec/mpi/message/data_memory.hpp"

#include <new>

#include "exec/mpi/library/library.hpp"
#include "exec/mpi/message/arena.hpp"

namespace circoll::mpi {
namespace {

/// Below it memory is cheap; and control data (counts of blocks) must stay what they are.
constexpr std::size_t least_shared_bytes = 256 << 10;

}  // namespace

bool keeps_contents(std::size_t bytes) { return !library::shares_data_memory || bytes < least_shared_bytes; }

std::byte* allocate_bulk(std::size_t bytes) {
  if (!keeps_contents(bytes)) {
    void* const shared = library::allocate_shared_data(bytes);
    if (shared == nullptr) throw std::bad_alloc();
    return static_cast<std::byte*>(shared);
  }
  return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{ArenaPool::alignment}));
}

void free_bulk(std::byte* data, std::size_t bytes) noexcept {
  if (!keeps_contents(bytes)) {
    library::free_shared_data(data);
    return;
  }
  ::operator delete (data, std::align_val_t{ArenaPool::alignment});
}

}  // namespace circoll::mpi
