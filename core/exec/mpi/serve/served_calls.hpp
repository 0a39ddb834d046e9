// The last blocking calls on a communicator that were served, ready to be made again.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "exec/mpi/serve/operation.hpp"
#include "facts/hash.hpp"

namespace circoll::mpi {

/// Keeps operations for calls that a program repeats. What reading the arguments and finding the plan has given is kept
/// with the operation, from the second call of a kind on. Most communicators have few calls, and many none that comes
/// again: a communicator has one set of places, and more only once that is full. Used by one thread at a time.
class ServedCalls {
 public:
  /// The operation of an earlier call of the same kind, or nullptr.
  [[nodiscard]] Operation* find(const Call& call, const CallShape& shape, const InternedChoice& choice) {
    for (const std::unique_ptr<Operation>& operation : set_of(shape).operations) {
      if (operation != nullptr && operation->again(call, shape, choice)) return operation.get();
    }
    return nullptr;
  }
  /// True if a call like this one was among the last that were asked about, most likely.
  [[nodiscard]] bool has_seen(const Call& call, const InternedChoice& choice) {
    const CallShape shape(call);
    Set& set = set_of(shape);
    const std::uint32_t mark = mark_of(shape, choice);
    if (std::find(set.seen.begin(), set.seen.end(), mark) != set.seen.end()) return true;
    set.seen[set.next_seen++ % set.seen.size()] = mark;
    return false;
  }
  /// Keeps an operation in place of the one that was first in its set.
  void keep(std::unique_ptr<Operation> operation) {
    if (more_.empty() && first_.operations[first_.oldest] != nullptr) spread();
    Set& set = set_of(operation->shape());
    set.operations[set.oldest] = std::move(operation);
    set.oldest = (set.oldest + 1) % set.operations.size();
  }
  void clear() noexcept {
    first_ = Set{};
    more_.clear();
  }

 private:
  struct Set {
    std::array<std::unique_ptr<Operation>, 4> operations{};
    std::array<std::uint32_t, 8> seen{};
    std::size_t oldest = 0;
    std::size_t next_seen = 0;
  };
  static constexpr int set_bits = 4;

  [[nodiscard]] Set& set_of(const CallShape& shape) {
    return more_.empty() ? first_ : more_[static_cast<std::size_t>(shape.hash() >> (64 - set_bits))];
  }
  /// From one set to all of them.
  void spread() {
    more_.resize(std::size_t{1} << set_bits);
    for (std::unique_ptr<Operation>& operation : first_.operations) {
      Set& set = set_of(operation->shape());
      set.operations[set.oldest] = std::move(operation);
      set.oldest = (set.oldest + 1) % set.operations.size();
    }
  }
  /// A mark is never 0, by which a place is free.
  static std::uint32_t mark_of(const CallShape& shape, const InternedChoice& choice) {
    const std::uint64_t mark = QuickHash()
                                   .add(static_cast<std::uint64_t>(shape.sendcount))
                                   .add(static_cast<std::uint64_t>(shape.recvcount))
                                   .add(static_cast<std::uint64_t>(shape.root) << 16U |
                                        static_cast<std::uint64_t>(shape.collective) << 8U | shape.buffers)
                                   .add(reinterpret_cast<std::uintptr_t>(&choice))
                                   .value();
    return static_cast<std::uint32_t>(mark >> 32U) | 1U;
  }

  Set first_{};
  std::vector<Set> more_{};  ///< none, or all; `first_` is empty then
};

}  // namespace circoll::mpi
