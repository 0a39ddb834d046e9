// The last blocking calls on a communicator that were served, ready to be made again.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "exec/mpi/operation.hpp"

namespace circoll::mpi {

/// Programs repeat calls: what reading the arguments and finding the plan has given is kept with the operation. Used by one
/// thread at a time.
class RecentCalls {
 public:
  /// An operation of the same kind as an earlier call's, or nullptr: add() one then.
  [[nodiscard]] Operation* find(const Call& call, const Interned& choice) {
    for (const Place& place : places_) {
      if (place != nullptr && *place && (*place)->again(call, choice)) return &**place;
    }
    return nullptr;
  }
  /// In place of the one that was added first. Allocates a place, of those that there are at most, when it is first used.
  [[nodiscard]] Operation& add(const Call& call, CommState& state) {
    Place& place = places_[oldest_];
    if (place == nullptr) place = std::make_unique<std::optional<Operation>>();
    return place->emplace(call, state, state.counts());
  }
  /// Keeps the one that was added last.
  void keep() { oldest_ = (oldest_ + 1) % places_.size(); }
  /// Drops it.
  void drop() noexcept { places_[oldest_]->reset(); }
  void clear() noexcept {
    for (Place& place : places_) place.reset();
  }

 private:
  using Place = std::unique_ptr<std::optional<Operation>>;
  std::array<Place, 4> places_{};
  std::size_t oldest_ = 0;
};

}  // namespace circoll::mpi
