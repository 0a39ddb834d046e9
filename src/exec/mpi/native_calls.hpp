// Calls on a communicator that were left to the MPI library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "exec/mpi/bound_plan.hpp"
#include "exec/mpi/call.hpp"
#include "exec/mpi/choices.hpp"

namespace circoll::mpi {

/// Where the MPI library's own collective is best it is best by little, so that finding this out again must cost next to
/// nothing: a call has one of few places, those of a set. Used by one thread at a time.
class NativeCalls {
 public:
  struct Known {
    std::string_view reason{};  ///< why the call is native
    Count bytes = 0;            ///< Outcome::bytes
  };

  /// What was found out about a call like this one, or nullptr.
  [[nodiscard]] const Known* find(const Call& call, const Interned& choice) const {
    if (sets_ == nullptr) return nullptr;
    const CallShape shape(call);
    for (const Entry& entry : (*sets_)[set_of(shape)].entries) {
      if (entry.choice == &choice && entry.shape == shape) return &entry.known;
    }
    return nullptr;
  }
  /// In place of the one that was first in its set. `plan` has the reason; the call is one that means the same whenever it is
  /// made, and is not known. Allocates at the first call only.
  void add(const Call& call, const Interned& choice, std::shared_ptr<const BoundPlan> plan, Count bytes) {
    if (sets_ == nullptr) sets_ = std::make_unique<Sets>();
    const CallShape shape(call);
    Set& set = (*sets_)[set_of(shape)];
    const std::string_view reason = plan->native_reason();
    set.entries[set.oldest] = {&choice, shape, {reason, bytes}, std::move(plan)};
    set.oldest = (set.oldest + 1) % set.entries.size();
  }
  void clear() noexcept { sets_.reset(); }

 private:
  struct Entry {
    const Interned* choice = nullptr;  ///< none: the place is free
    CallShape shape{};
    Known known{};
    std::shared_ptr<const BoundPlan> plan{};
  };
  /// One place for each would not do: of ten calls that take turns two would most likely have the same.
  struct Set {
    std::array<Entry, 4> entries{};
    std::size_t oldest = 0;
  };
  static constexpr int set_bits = 4;
  using Sets = std::array<Set, std::size_t{1} << set_bits>;

  /// Fibonacci hashing of what differs among the calls of a program.
  static std::size_t set_of(const CallShape& shape) {
    const auto counts = static_cast<std::uint64_t>(shape.sendcount) + static_cast<std::uint64_t>(shape.recvcount);
    const auto key = (counts * all_collectives.size() + static_cast<std::uint64_t>(shape.collective)) * 31 +
                     static_cast<std::uint64_t>(shape.root);
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> (64 - set_bits));
  }

  std::unique_ptr<Sets> sets_{};
};

}  // namespace circoll::mpi
