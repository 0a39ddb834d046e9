#include "exec/mpi/message/data_memory.hpp"

#include <mpi.h>

#include <new>

#include "exec/mpi/message/arena.hpp"

namespace circoll::mpi {
namespace {

/// Below it memory is cheap; and control data (counts of blocks) must stay what they are.
[[maybe_unused]] constexpr std::size_t least_shared_bytes = 256 << 10;

}  // namespace

bool keeps_contents([[maybe_unused]] std::size_t bytes) {
#ifdef CIRCOLL_SIMULATED
  return bytes < least_shared_bytes;
#else
  return true;
#endif
}

std::byte* allocate_bulk(std::size_t bytes) {
#ifdef CIRCOLL_SIMULATED
  if (!keeps_contents(bytes)) {
    void* const shared = smpi_shared_malloc(bytes, __FILE__, __LINE__);
    if (shared == nullptr) throw std::bad_alloc();
    return static_cast<std::byte*>(shared);
  }
#endif
  return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{ArenaPool::alignment}));
}

void free_bulk(std::byte* data, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef CIRCOLL_SIMULATED
  if (!keeps_contents(bytes)) {
    smpi_shared_free(data);
    return;
  }
#endif
  ::operator delete (data, std::align_val_t{ArenaPool::alignment});
}

void BulkBytes::resize(std::size_t bytes) {
  if (data_ != nullptr) free_bulk(data_, bytes_);
  data_ = nullptr;
  bytes_ = 0;
  if (bytes == 0) return;
  data_ = allocate_bulk(bytes);
  bytes_ = bytes;
}

}  // namespace circoll::mpi
