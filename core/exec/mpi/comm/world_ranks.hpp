// The ranks of a communicator as another communicator numbers them.
#pragma once

#include <mpi.h>

#include <vector>

#include "circoll/types.hpp"

namespace circoll::mpi {

/// A translation of ranks. Regular ones, `first + stride * rank`, take no memory: the world itself, blocks of it, every
/// n-th rank.
class RankMap {
 public:
  /// Each rank is its own.
  RankMap() = default;
  explicit RankMap(std::vector<int> ranks);

  [[nodiscard]] int operator()(Rank rank) const {
    return table_.empty() ? first_ + stride_ * static_cast<int>(rank) : table_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] bool is_identity() const { return table_.empty() && first_ == 0 && stride_ == 1; }
  [[nodiscard]] std::size_t memory_bytes() const { return table_.capacity() * sizeof(int); }

 private:
  int first_ = 0;
  int stride_ = 1;
  std::vector<int> table_;
};

/// The ranks of an intracommunicator in MPI_COMM_WORLD. False if some are ranks of another MPI_COMM_WORLD, which all
/// ranks of the communicator find alike. Local; O(p).
[[nodiscard]] bool find_world_ranks(MPI_Comm comm, Rank size, RankMap* ranks);

}  // namespace circoll::mpi
