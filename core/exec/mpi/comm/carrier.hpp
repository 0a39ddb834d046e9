// The private communicators that carry our messages, and their tags, which are given out in ranges.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "circoll/types.hpp"
#include "exec/mpi/comm/neighbours.hpp"
#include "schedule/relabelling.hpp"

namespace circoll::mpi {

/// The division of a context's tags among the executions that may use them at the same time.
///
///   [0, blocking)        blocking calls, one after another: each collective begins at a place of its own
///   [blocking, context)  nonblocking operations, in `epochs` ranges of one unit that are used in turn
///
/// A persistent request has units of its own, outside of the context.
struct TagLayout {
  static constexpr int context_units = 128;
  static constexpr int blocking_units = 64;
  static constexpr int epochs = context_units - blocking_units;

  int unit = 4;  ///< tags of the smallest range

  /// The layout for tags 0 .. largest_tag, in units of 4 to 256 tags. So there are 64 contexts at least, and some
  /// thousands with the tags that MPI libraries have. `largest_tag` is at least 32767, as MPI promises.
  [[nodiscard]] static TagLayout of(int largest_tag);

  [[nodiscard]] int blocking_tags() const { return blocking_units * unit; }
  /// The distance between the first tags of two collectives. An erroneous call may leave messages of its collective
  /// behind, which the next call of another one must not meet.
  [[nodiscard]] int blocking_stride() const { return unit / 4; }
  /// True if there are more contexts than a program can need, of so many tags. Only then may an agreement on them be a
  /// part of a nonblocking call, which cannot be left to the MPI library any more when it fails.
  [[nodiscard]] bool is_plentiful(int largest_tag) const { return largest_tag / (context_units * unit) >= 4095; }
  /// Tags that one execution may have at most.
  [[nodiscard]] int most_tags() const { return (blocking_units - 4) * unit; }
  /// Units of a nonblocking or persistent execution that wants so many tags: 1 to `epochs`.
  [[nodiscard]] int units_for(int tags) const;
};

/// Ranges of units, the lowest free one first: ranks that ask in the same order get the same. Thread-safe.
class TagSpace {
 public:
  explicit TagSpace(int units);

  /// The first unit of a range that is taken now. It is -1 if there is none, or if less than `spare` units would
  /// be left.
  [[nodiscard]] int take(int units, int spare = 0);
  /// Gives a range back. What must not be used again is kept instead.
  void give_back(int first, int units) noexcept;
  [[nodiscard]] int units() const { return units_; }
  [[nodiscard]] int free_units() const;

 private:
  int units_;
  mutable std::mutex mutex_;
  int free_units_;
  std::map<int, int> free_;  // first unit to number of units; no two are neighbours
};

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
