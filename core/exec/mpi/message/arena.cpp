#include "exec/mpi/message/arena.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {
namespace {

/// Smaller blocks are cheap. They also hold control data (counts of blocks), which must keep their contents.
constexpr std::size_t least_shared_bytes = 256 << 10;

}  // namespace

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

Abandoned& abandoned() {
  static auto* const instance = new Abandoned;
  return *instance;
}

void Abandoned::add(std::vector<MPI_Request> requests, ArenaPool::Block block, Held held) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    entries_.push_back({std::move(requests), block, held});
  } catch (const std::bad_alloc&) {
    return;
  }
}

void Abandoned::collect() noexcept {
  // Not under the mutex while MPI is asked: its progress may end other operations, and come here again.
  std::vector<Entry> entries;
  {
    const std::lock_guard lock(mutex_);
    entries.swap(entries_);
  }
  for (Entry& entry : entries) {
    bool pending = false;
    for (MPI_Request& request : entry.requests) {
      int completed = 0;
      // An error is that of a message which nobody waits for any more. A request that has ended by it is null.
      if (request != MPI_REQUEST_NULL) (void)PMPI_Test(&request, &completed, MPI_STATUS_IGNORE);
      pending = pending || request != MPI_REQUEST_NULL;
    }
    if (pending) {
      add(std::move(entry.requests), entry.block, entry.held);
      continue;
    }
    arenas().release(entry.block);
    if (entry.held.object != nullptr) entry.held.free(entry.held.object);
  }
}

void Abandoned::close() noexcept {
  collect();
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    for (MPI_Request& request : entry.requests) {
      if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
    }
  }
  entries_.clear();
}

std::size_t Abandoned::size() {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace circoll::mpi
