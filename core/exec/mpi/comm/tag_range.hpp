// The tags of a context or of a persistent request, as its ranks have agreed on them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "exec/mpi/comm/carrier.hpp"

namespace circoll::mpi {

/// Tags that no other communicator's messages to this rank have. Each rank takes a range of its own and tells the
/// others where it begins: they send with its tags. So nobody needs to find what is free at all ranks, threads
/// and pending agreements do not disturb one another, and a range is given back without asking. Mostly all ranks
/// take the same.
class TagRange {
 public:
  TagRange() = default;
  ~TagRange() { give_back(); }
  TagRange(const TagRange&) = delete;
  TagRange& operator=(const TagRange&) = delete;

  /// Takes units at this rank, of which `spare` others are left. If there are none, the agreement will say so to all.
  /// Throws std::bad_alloc.
  void take(std::shared_ptr<Carrier> carrier, int units, int spare = 0);
  /// Has the first tags of a carrier, which were taken from it on all ranks. Nothing is to be agreed upon.
  void take_first(std::shared_ptr<Carrier> carrier, int units);
  /// Tells the others, waiting for them: one native allgather of a number on `comm`, of `size` ranks. Returns an MPI
  /// error code.
  [[nodiscard]] int agree(MPI_Comm comm, int size);
  /// The same in two parts, of which none waits; settle() says when it is over, and asks MPI.
  [[nodiscard]] int begin(MPI_Comm comm, int size);
  [[nodiscard]] bool settle();

  /// Instead of an agreement, where all ranks are known to have taken the same.
  void set_agreed() { agreed_ = true; }
  /// Likewise, where the tags of all ranks have been learned in some other way.
  void set_agreed(std::vector<int> all) {
    others_ = std::move(all);
    agreed_ = true;
  }

  /// After the agreement: whether all ranks have a range.
  [[nodiscard]] bool agreed() const { return agreed_; }
  [[nodiscard]] MPI_Comm comm() const { return carrier_ == nullptr ? MPI_COMM_NULL : carrier_->comm(); }
  [[nodiscard]] const Neighbours* neighbours() const { return carrier_ == nullptr ? nullptr : carrier_->neighbours(); }
  /// The first tag of the messages to this rank, and of those to another rank of the communicator.
  [[nodiscard]] int own() const { return own_; }
  [[nodiscard]] int of(Rank peer) const { return others_.empty() ? own_ : others_[static_cast<std::size_t>(peer)]; }

  /// A number that no other range of this process has had; 0 for none.
  [[nodiscard]] std::uint64_t id() const { return id_; }

  /// Messages may be left that nobody has received, so that these tags are never used again here.
  void spoil() { spoiled_ = true; }
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
