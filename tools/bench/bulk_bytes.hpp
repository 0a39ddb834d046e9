// Memory for the vectors that circoll-bench measures with.
#pragma once

#include <cstddef>
#include <span>

#include "exec/mpi/message/arena.hpp"

namespace circoll::bench {

/// Memory of allocate_bulk that goes with its owner.
class BulkBytes {
 public:
  BulkBytes() = default;
  ~BulkBytes() { resize(0); }
  BulkBytes(const BulkBytes&) = delete;
  BulkBytes& operator=(const BulkBytes&) = delete;

  /// Allocates anew. The former contents are lost, the new ones undefined.
  void resize(std::size_t bytes) {
    if (data_ != nullptr) mpi::free_bulk(data_, bytes_);
    data_ = nullptr;
    bytes_ = 0;
    if (bytes == 0) return;
    data_ = mpi::allocate_bulk(bytes);
    bytes_ = bytes;
  }
  [[nodiscard]] char* data() const { return reinterpret_cast<char*>(data_); }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] std::span<char> span() const { return {data(), bytes_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace circoll::bench
