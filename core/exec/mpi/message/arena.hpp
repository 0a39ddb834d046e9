// Scratch memory that is reused from call to call. With it is the memory that MPI may still use for messages that were
// given up.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace circoll::mpi {

/// Blocks of scratch memory, shared by all communicators. The memory kept is bounded by the executions that were under
/// way at the same time, not by the number of communicators. Thread-safe.
class ArenaPool {
 public:
  /// Free blocks of more bytes than this together are given back to the system.
  static constexpr std::size_t kept_bytes = std::size_t{256} << 20;
  static constexpr std::size_t alignment = 64;

  struct Block {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };

  /// A block of at least `bytes` bytes, aligned to `alignment`; no block if bytes is 0. Throws std::bad_alloc.
  [[nodiscard]] Block acquire(std::size_t bytes);
  void release(Block block) noexcept;

 private:
  std::mutex mutex_;
  std::vector<Block> free_;  // few: at most one per concurrent execution
  std::size_t free_bytes_ = 0;
};

/// The pool of the process. Part of the executor's global state (HACKING.md).
[[nodiscard]] ArenaPool& arenas();

/// A block that goes with its owner, or earlier.
class Arena {
 public:
  explicit Arena(ArenaPool& pool) : pool_(&pool) {}
  ~Arena() { reset(); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Gives a block in place of the one before, or the same if that is large enough. Throws std::bad_alloc.
  [[nodiscard]] std::byte* acquire(std::size_t bytes) {
    if (block_.bytes < bytes) {
      reset();
      block_ = pool_->acquire(bytes);
    }
    return block_.data;
  }
  /// True if acquire() of so many bytes would give the block that there is, or none is needed.
  [[nodiscard]] bool keeps(std::size_t bytes) const { return block_.bytes >= bytes; }
  /// reset(), unless the block is so small that its owner may keep it for the next time.
  void shrink() noexcept {
    constexpr std::size_t small = 4096;
    if (block_.bytes > small) reset();
  }
  void reset() noexcept {
    pool_->release(block_);
    block_ = {};
  }
  /// The block, which its new owner releases.
  [[nodiscard]] ArenaPool::Block detach() noexcept { return std::exchange(block_, {}); }

 private:
  ArenaPool* pool_;
  ArenaPool::Block block_{};
};

/// Aligned memory of at least `bytes` > 0. In a simulation a thousand ranks share the machine's memory. There all large
/// blocks are the same few pages (SMPI's shared malloc), and their contents mean nothing. With SMPI's option
/// smpi/shared-malloc:no the memory is the rank's own. Throws std::bad_alloc.
[[nodiscard]] std::byte* allocate_bulk(std::size_t bytes);
void free_bulk(std::byte* data, std::size_t bytes) noexcept;

/// True if a block of this size keeps what is written into it.
[[nodiscard]] bool keeps_contents(std::size_t bytes);

/// Requests of executions that ended with an error. Their memory stays reserved until they are complete. Thread-safe.
class Abandoned {
 public:
  /// Memory of another kind than a block.
  struct Held {
    void* object = nullptr;
    void (*free)(void* object) noexcept = nullptr;
  };
  /// Keeps the block, or an object, until all requests are complete. If there is no memory for that, it is lost.
  void add(std::vector<MPI_Request> requests, ArenaPool::Block block) noexcept { add(std::move(requests), block, {}); }
  void add(std::vector<MPI_Request> requests, Held held) noexcept { add(std::move(requests), {}, held); }
  /// Gives back the memory of those that are complete by now; asks MPI.
  void collect() noexcept;
  /// Frees the requests, at MPI_Finalize.
  void close() noexcept;
  [[nodiscard]] std::size_t size();

 private:
  struct Entry {
    std::vector<MPI_Request> requests;
    ArenaPool::Block block;
    Held held;
  };
  void add(std::vector<MPI_Request> requests, ArenaPool::Block block, Held held) noexcept;

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// Part of the executor's global state (HACKING.md).
[[nodiscard]] Abandoned& abandoned();

}  // namespace circoll::mpi
