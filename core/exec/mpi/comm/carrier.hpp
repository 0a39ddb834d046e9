// The private communicators that carry our messages.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <vector>

#include "circoll/types.hpp"
#include "exec/mpi/comm/neighbours.hpp"
#include "exec/mpi/comm/tag_space.hpp"
#include "schedule/relabelling.hpp"

namespace circoll::mpi {

/// A private communicator that returns errors, and its tags. No tag of ours is visible to the program. One of
/// MPI_COMM_WORLD serves all communicators within it (share_world); without it each communicator gets one of
/// its own ranks.
class Carrier {
 public:
  /// Takes the communicator over.
  explicit Carrier(MPI_Comm comm);
  /// Frees the communicator, unless MPI_Finalize has done.
  ~Carrier();
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] TagSpace& tags() { return tags_; }
  [[nodiscard]] const TagLayout& layout() const { return layout_; }
  /// The tag behind all others, of questions about calls that do not end (stalls.hpp).
  [[nodiscard]] int stall_tag() const { return tags_.units() * layout_.unit; }
  /// The placement of the ranks of MPI_COMM_WORLD; nothing is known in a carrier of another communicator's.
  [[nodiscard]] const Placement& placement() const { return placement_; }
  /// The ranks that are reached by memory; nullptr if there are none.
  [[nodiscard]] const Neighbours* neighbours() const { return neighbours_.get(); }
  /// Finds them. Collective over the carrier's ranks, before it carries anything. Returns an MPI error code.
  [[nodiscard]] int find_neighbours(int rank, std::span<const Whereabouts> ranks) {
    return Neighbours::find(comm_, rank, ranks, &neighbours_);
  }
  /// Before MPI_Finalize.
  void close();

 private:
  friend int share_world();
  MPI_Comm comm_;
  TagLayout layout_;
  TagSpace tags_;
  Placement placement_;
  std::unique_ptr<Neighbours> neighbours_;
};

/// The division of this MPI library's tags.
[[nodiscard]] const TagLayout& tag_layout();

/// Makes the carrier that the communicators within MPI_COMM_WORLD share, or none on all ranks. Collective over
/// MPI_COMM_WORLD; at most once, where MPI_Init ends, before any collective. Returns an MPI error code.
[[nodiscard]] int share_world();
/// The shared carrier; nullptr if there is none.
[[nodiscard]] const std::shared_ptr<Carrier>& shared_world();

}  // namespace circoll::mpi
