// The ranks of a communicator that this process shares memory with (core/exec/node).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "circoll/types.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "exec/node/host.hpp"

namespace circoll::mpi {

/// A rank that is reached by memory.
struct NodePeer {
  node::ConnectedPeer* peer = nullptr;
  /// The peer's number of the carrier, which its messages' keys begin with.
  std::uint32_t carrier = 0;
};

/// The node peers of this process among the ranks of a carrier. Two ranks are node peers if each has mapped the
/// segment of the other: a node's name says nothing about that. Both ends know it.
class NodePeers {
 public:
  /// No ranks; or those from `first` on of which the vector has a peer, where this process is `rank`.
  NodePeers() = default;
  NodePeers(int rank, int first, std::vector<NodePeer> ranks) : rank_(rank), first_(first), ranks_(std::move(ranks)) {}

  /// Finds them. Called on all ranks of `comm`, whose ranks are where `all` says. It is a private communicator that
  /// carries no messages yet. Ranks that may be node peers exchange some bytes twice. The segment of the process is
  /// made if there are others on its node. Returns an MPI error code. Throws std::bad_alloc before it sends anything.
  [[nodiscard]] static int find(MPI_Comm comm, int rank, std::span<const RankLocation> all,
                                std::unique_ptr<NodePeers>* found);

  /// True if the rank, of the carrier, is one.
  [[nodiscard]] bool has(int rank) const {
    const auto place = static_cast<std::size_t>(rank - first_);
    return place < ranks_.size() && ranks_[place].peer != nullptr;
  }
  /// Precondition: has(rank).
  [[nodiscard]] const NodePeer& operator[](int rank) const { return ranks_[static_cast<std::size_t>(rank - first_)]; }
  /// This process's rank in the carrier.
  [[nodiscard]] int rank() const { return rank_; }
  /// This process's number of the carrier.
  [[nodiscard]] std::uint32_t carrier() const { return carrier_; }
  /// True if node peers and this process outnumber their processors: who waits keeps another from running.
  [[nodiscard]] bool crowded() const { return crowded_; }

 private:
  int rank_ = 0;
  int first_ = 0;
  std::vector<NodePeer> ranks_;  ///< from `first_` on
  std::uint32_t carrier_ = 0;
  bool crowded_ = false;
};

/// The ways of this process's messages to others of its node. Plain data, to be gathered.
struct NodeUse {
  std::int32_t others = 0;         ///< ranks of MPI_COMM_WORLD, or of the first carrier, that are in the same place
  std::int32_t by_memory = 0;      ///< of them, those that are reached by memory
  std::int32_t read_directly = 0;  ///< of them, those whose memory is read
  std::int64_t read_from = 0;      ///< if messages have so many bytes
  std::int32_t crowded = 0;        ///< 1: this process and those by memory have fewer processors than they are
  node::Reason reason = node::Reason::none;          ///< why some are not reached
  node::Reason reading_reason = node::Reason::none;  ///< why some are not read
};
[[nodiscard]] NodeUse node_use();

}  // namespace circoll::mpi
