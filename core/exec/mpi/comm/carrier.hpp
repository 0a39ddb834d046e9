// The private communicators that carry our messages, and their tags.
//
// A TagSpace gives the tags of a communicator out in ranges. A TagRange is what the ranks of a context or of a
// persistent request have agreed on.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "circoll/types.hpp"
#include "exec/mpi/comm/node_peers.hpp"
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
  /// behind. The next call of another collective must not receive them.
  [[nodiscard]] int blocking_stride() const { return unit / 4; }
  /// True if there are more contexts of so many tags than a program can need. Only then may an agreement on them be a
  /// part of a nonblocking call: when it fails, the call cannot be left to the MPI library any more.
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
  /// Gives a range back. The caller keeps a range whose tags must not be used again.
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
  /// The machine above the nodes, for a report; empty if nobody asked (CIRCOLL_TOPOLOGY).
  [[nodiscard]] const std::string& topology() const { return topology_; }
  /// Why it is not known, on the first rank that cannot read it; empty on the others.
  [[nodiscard]] const std::string& topology_complaint() const { return topology_complaint_; }
  /// The ranks that are reached by memory; nullptr if there are none.
  [[nodiscard]] const NodePeers* node_peers() const { return node_peers_.get(); }
  /// Finds them. Collective over the carrier's ranks, before it carries anything. Returns an MPI error code.
  [[nodiscard]] int find_node_peers(int rank, std::span<const RankLocation> ranks) {
    return NodePeers::find(comm_, rank, ranks, &node_peers_);
  }
  /// Before MPI_Finalize.
  void close();

 private:
  friend int share_world();
  MPI_Comm comm_;
  TagLayout layout_;
  TagSpace tags_;
  Placement placement_;
  std::string topology_;
  std::string topology_complaint_;
  std::unique_ptr<NodePeers> node_peers_;
};

/// The division of this MPI library's tags.
[[nodiscard]] const TagLayout& tag_layout();

/// Makes the carrier that the communicators within MPI_COMM_WORLD share, or none on all ranks. Collective over
/// MPI_COMM_WORLD; at most once, where MPI_Init ends, before any collective. Returns an MPI error code.
[[nodiscard]] int share_world();
/// The shared carrier; nullptr if there is none.
[[nodiscard]] const std::shared_ptr<Carrier>& shared_world();

/// Tags that no other communicator's messages to this rank have. Each rank takes a range of its own and tells the
/// others where it begins. They send with these tags. So no rank needs to find tags that are free at all ranks, threads
/// and pending agreements do not disturb one another, and a rank gives a range back without asking. Mostly all ranks
/// take the same.
class TagRange {
 public:
  TagRange() = default;
  ~TagRange() { give_back(); }
  TagRange(const TagRange&) = delete;
  TagRange& operator=(const TagRange&) = delete;

  /// Takes units at this rank, and leaves `spare` others. If there are none, the agreement will tell all ranks. Throws
  /// std::bad_alloc.
  void take(std::shared_ptr<Carrier> carrier, int units, int spare = 0);
  /// Has the first tags of a carrier, which all ranks have taken from it. So it needs no agreement.
  void take_first(std::shared_ptr<Carrier> carrier, int units);
  /// Tells the others, waiting for them: one native allgather of a number on `comm`, of `size` ranks. Returns an MPI
  /// error code.
  [[nodiscard]] int agree(MPI_Comm comm, int size);
  /// The same in two parts, neither of which waits. settle() says when the agreement is over, and asks MPI.
  [[nodiscard]] int begin(MPI_Comm comm, int size);
  [[nodiscard]] bool settle();

  /// Takes the place of an agreement where all ranks are known to have taken the same.
  void set_agreed() { agreed_ = true; }
  /// Likewise where this rank has learned the tags of all ranks in some other way.
  void set_agreed(std::vector<int> all) {
    others_ = std::move(all);
    agreed_ = true;
  }

  /// After the agreement: whether all ranks have a range.
  [[nodiscard]] bool agreed() const { return agreed_; }
  [[nodiscard]] MPI_Comm comm() const { return carrier_ == nullptr ? MPI_COMM_NULL : carrier_->comm(); }
  [[nodiscard]] const NodePeers* node_peers() const { return carrier_ == nullptr ? nullptr : carrier_->node_peers(); }
  /// The first tag of the messages to this rank, and of those to another rank of the communicator.
  [[nodiscard]] int own() const { return own_; }
  [[nodiscard]] int of(Rank peer) const { return others_.empty() ? own_ : others_[static_cast<std::size_t>(peer)]; }

  /// A number that no other range of this process has had; 0 for none.
  [[nodiscard]] std::uint64_t id() const { return id_; }

  /// Messages may be left that no rank has received. So these tags are never used again here.
  void retire() { spoiled_ = true; }
  void give_back() noexcept;

 private:
  void compare();

  std::shared_ptr<Carrier> carrier_;
  std::uint64_t id_ = 0;
  int first_unit_ = -1;
  int units_ = 0;
  int own_ = 0;  ///< -1: no range
  bool agreed_ = false;
  bool spoiled_ = false;
  std::vector<int> others_;  ///< empty if all are the same
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace circoll::mpi
