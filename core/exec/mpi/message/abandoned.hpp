// Messages that were given up, and the memory that MPI may still read or write for them.
#pragma once

#include <mpi.h>

#include <mutex>
#include <vector>

#include "exec/mpi/message/arena.hpp"

namespace circoll::mpi {

/// Requests of executions that ended with an error. Their memory is not used again before they
/// are complete. Thread-safe.
class Abandoned {
 public:
  /// Keeps the block until all requests are complete. If there is no memory for that, the block is lost.
  void add(std::vector<MPI_Request> requests, ArenaPool::Block block) noexcept;
  /// Gives back the memory of those that are complete by now; asks MPI.
  void collect() noexcept;
  /// Frees the requests, at MPI_Finalize.
  void close() noexcept;
  [[nodiscard]] std::size_t size();

 private:
  struct Entry {
    std::vector<MPI_Request> requests;
    ArenaPool::Block block;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// Part of the executor's global state (HACKING.md).
[[nodiscard]] Abandoned& abandoned();

}  // namespace circoll::mpi
