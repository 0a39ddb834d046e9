// The way of an execution's messages: communicator, ranks and tags, and news that ends its waiting.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "exec/mpi/comm/carrier.hpp"
#include "exec/mpi/comm/node_peers.hpp"
#include "exec/mpi/comm/placement.hpp"

namespace circoll::mpi {

/// The ends of processes, which end the wait of a call that would wait for them forever. Without it a call waits as
/// MPI's own do.
struct Interruption {
  const std::atomic<std::uint32_t>* ends = nullptr;  ///< it grows when a process ends
  std::uint32_t seen = 0;                            ///< ends that the call need not look at

  [[nodiscard]] bool there() const { return ends->load(std::memory_order_relaxed) != seen; }
};

/// A value in place of an MPI error code. The call has been interrupted, and may go on or be stopped.
inline constexpr int interrupted = -1;

class CommState;

/// The communicator and tags of an execution's messages. They go over `comm`, where a peer has another rank, and have
/// `span` tags from `offset` on in a range. The objects that a Route points to outlive the execution.
struct Route {
  MPI_Comm comm = MPI_COMM_NULL;
  const RankMap* ranks = nullptr;
  const TagRange* range = nullptr;
  int offset = 0;
  std::uint32_t span = 1;
  /// The ranks of `comm` that are reached by memory; nullptr if there are none.
  const NodePeers* node_peers = nullptr;
  const Interruption* interruption = nullptr;  ///< of blocking calls; nullptr: none
  const CommState* stalls_on = nullptr;        ///< where calls that do not end are looked after; nullptr: nowhere
  /// The program's communicator, if a call that waits asks for its failures (library/failures.hpp).
  MPI_Comm asked = MPI_COMM_NULL;

  /// The number of the channel that serves a peer: 0 is MPI, 1 is the memory of the node.
  [[nodiscard]] std::size_t channel_of(Rank peer) const {
    return node_peers != nullptr && node_peers->has(rank(peer)) ? 1 : 0;
  }
  [[nodiscard]] int rank(Rank peer) const { return (*ranks)(peer); }
  [[nodiscard]] int send_tag(Rank peer, std::uint32_t message) const {
    return range->of(peer) + offset + static_cast<int>(message % span);
  }
  [[nodiscard]] int receive_tag(std::uint32_t message) const {
    return range->own() + offset + static_cast<int>(message % span);
  }
};

}  // namespace circoll::mpi
