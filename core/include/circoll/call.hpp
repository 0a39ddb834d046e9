// The arguments of a collective without MPI: the typed API makes them, and every communicator executes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "circoll/buffers.hpp"
#include "circoll/neighbor_function.hpp"
#include "circoll/types.hpp"

namespace circoll {

/// One rank's call of a collective, as MPI's arguments. Counts and displacements are in elements.
struct CollectiveCall {
  Collective collective = Collective::barrier;  ///< which one is called
  /// A collective among neighbours, which is called in place of `collective`. Arrays have an entry for each neighbour.
  std::optional<NeighborFunction> neighbor{};
  const void* sendbuf = nullptr;  ///< MPI's sendbuf; not read where MPI says that it is not significant
  /// bcast: the buffer of all ranks, the root's is the source.
  void* recvbuf = nullptr;
  /// Elements of the vector (allreduce, reduce, bcast, scan, exscan) or of a block. The block is each rank's
  /// (reduce_scatter_block, allgather, gather, scatter, alltoall) or this rank's own (gatherv: what it sends, scatterv:
  /// what it receives).
  Count count = 0;
  /// Elements of each rank's block, p entries. They are significant on all ranks for reduce_scatter and allgatherv, and
  /// at the root for gatherv and scatterv. For alltoallv they are of the block that comes from each rank.
  std::span<const Count> counts{};
  /// Displacements of the blocks in the buffer that holds all of them. It is the one of all ranks in allgatherv, of the
  /// root in gatherv and scatterv, and recvbuf in alltoallv. Empty: one after another.
  std::span<const Count> displs{};
  /// alltoallv: elements of the block for each rank, p entries, and where they lie in sendbuf. Not used in place.
  std::span<const Count> send_counts{};
  std::span<const Count> send_displs{};  ///< elements from the beginning of sendbuf, p entries
  Type type = Type::byte;                ///< of the elements of both buffers
  /// Size of a record in bytes; if positive, elements are such records and `type` is ignored. For user operators,
  /// or none.
  Count record_bytes = 0;
  /// The operator, but over MPI, where it is an MPI_Op and stands beside the call.
  Operator op{};
  Rank root = 0;  ///< 0 <= root < p; 0 where the collective has no root
  /// The call is in place, as with MPI_IN_PLACE: sendbuf is ignored (scatter, scatterv at the root: recvbuf). Where MPI
  /// knows it at the root only, the others' must be false. Said explicitly, because the data() of an empty vector is
  /// null as well.
  bool in_place = false;
};

/// Elements up to the end of the last block. Without displacements the blocks lie one after another.
[[nodiscard]] inline Count end_of_blocks(std::span<const Count> counts, std::span<const Count> displs) {
  Count end = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    end = displs.empty() ? end + counts[i] : std::max(end, displs[i] + counts[i]);
  }
  return end;
}

}  // namespace circoll
