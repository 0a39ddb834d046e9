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
/// nothing: each call has one place, which the last call with that place holds. Used by one thread at a time.
class NativeCalls {
 public:
  struct Known {
    std::string_view reason{};  ///< why the call is native
    Count bytes = 0;            ///< Outcome::bytes
  };

  /// What was found out about a call like this one, or nullptr.
  [[nodiscard]] const Known* find(const Call& call, const Interned& choice) const {
    const CallShape shape(call);
    const Entry& entry = entries_[place(shape)];
    return entry.choice == &choice && entry.shape == shape ? &entry.known : nullptr;
  }
  /// `plan` has the reason; the call is one that means the same whenever it is made (UserBuffers::lasting()).
  void add(const Call& call, const Interned& choice, std::shared_ptr<const BoundPlan> plan, Count bytes) {
    const CallShape shape(call);
    const std::string_view reason = plan->native_reason();
    entries_[place(shape)] = {&choice, shape, {reason, bytes}, std::move(plan)};
  }
  void clear() noexcept { entries_.fill({}); }

 private:
  struct Entry {
    const Interned* choice = nullptr;  ///< none: the place is free
    CallShape shape{};
    Known known{};
    std::shared_ptr<const BoundPlan> plan{};
  };
  static constexpr int place_bits = 4;

  /// Fibonacci hashing of what most often differs among the calls of a program.
  static std::size_t place(const CallShape& shape) {
    const auto counts = static_cast<std::uint64_t>(shape.sendcount) + static_cast<std::uint64_t>(shape.recvcount);
    const auto key = counts * all_collectives.size() + static_cast<std::uint64_t>(shape.collective);
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> (64 - place_bits));
  }

  std::array<Entry, std::size_t{1} << place_bits> entries_{};
};

}  // namespace circoll::mpi
