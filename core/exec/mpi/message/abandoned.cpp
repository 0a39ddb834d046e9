#include "exec/mpi/message/abandoned.hpp"

#include <new>
#include <utility>

namespace circoll::mpi {

Abandoned& abandoned() {
  static auto* const instance = new Abandoned;
  return *instance;
}

void Abandoned::add(std::vector<MPI_Request> requests, ArenaPool::Block block) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    entries_.push_back({std::move(requests), block});
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
    int completed = 0;
    // An error is that of a message which nobody waits for any more.
    const int rc =
        PMPI_Testall(static_cast<int>(entry.requests.size()), entry.requests.data(), &completed, MPI_STATUSES_IGNORE);
    if (rc == MPI_SUCCESS && completed != 0) {
      arenas().release(entry.block);
    } else if (rc == MPI_SUCCESS) {
      add(std::move(entry.requests), entry.block);
    }
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
