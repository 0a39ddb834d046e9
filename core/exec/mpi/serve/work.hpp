// The common face of operations that Progress advances: collectives among all ranks, and those among neighbours.
#pragma once

#include <cstdint>

namespace circoll::mpi {

/// A call that has been prepared. Used by one thread at a time.
class Work {
 public:
  Work() = default;
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// True if it has a number among the nonblocking operations of its communicator, and which.
  [[nodiscard]] virtual bool numbered() const = 0;
  [[nodiscard]] virtual std::uint64_t first_number() const = 0;
  /// True if tags are free for it.
  [[nodiscard]] virtual bool may_start() const = 0;
  /// Posts everything that waits for nothing. Throws std::bad_alloc.
  virtual void start() = 0;
  /// Asks MPI once for news. True if the operation is over. Does not wait for other threads either.
  [[nodiscard]] virtual bool progress() = 0;
  [[nodiscard]] virtual int error() const = 0;
  /// Ends it with an error, after an exception.
  virtual void fail(int error) noexcept = 0;
};

}  // namespace circoll::mpi
