// Scratch memory that is reused from call to call.
#pragma once

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

}  // namespace circoll::mpi
