// The last blocking calls on a communicator that were served, ready to be made again.
#pragma once

#include <array>
#include <optional>

#include "exec/mpi/operation.hpp"

namespace circoll::mpi {

/// Programs repeat calls: what reading the arguments and finding the plan has given is kept with the operation. Used by one
/// thread at a time.
class RecentCalls {
 public:
  /// An operation of the same kind as an earlier call's, or nullptr: add() one then.
  [[nodiscard]] Operation* find(const Call& call, const Interned& choice) {
    for (std::optional<Operation>& operation : operations_) {
      if (operation && operation->again(call, choice)) return &*operation;
    }
    return nullptr;
  }
  /// In place of the one that was added first. Allocates nothing by itself.
  [[nodiscard]] Operation& add(const Call& call, CommState& state) {
    return operations_[oldest_].emplace(call, state, state.counts());
  }
  /// Keeps the one that was added last.
  void keep() { oldest_ = (oldest_ + 1) % operations_.size(); }
  /// Drops it.
  void drop() noexcept { operations_[oldest_].reset(); }
  void clear() noexcept {
    for (std::optional<Operation>& operation : operations_) operation.reset();
  }

 private:
  std::array<std::optional<Operation>, 4> operations_{};
  std::size_t oldest_ = 0;
};

}  // namespace circoll::mpi
