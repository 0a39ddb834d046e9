// Calls on a communicator that were left to the MPI library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/serve/bound_plan.hpp"
#include "exec/mpi/serve/choices.hpp"

namespace circoll::mpi {

/// Remembers calls that were left native. Where the MPI library's own collective is best it is best by little, so that
/// finding this out again must cost next to nothing: a call has one of few places, those of a set. Used by one thread
/// at a time.
class NativeCalls {
 public:
  struct Known {
    std::string_view reason{};  ///< why the call is native
    Count bytes = 0;            ///< Outcome::bytes
  };

  /// The memory of a call like this one, or nullptr.
  [[nodiscard]] const Known* find(const Call& call, const InternedChoice& choice) const {
    return sets_.empty() ? nullptr : find(CallShape(call), choice);
  }
  [[nodiscard]] const Known* find(const CallShape& shape, const InternedChoice& choice) const {
    if (sets_.empty()) return nullptr;
    for (const Entry& entry : sets_[set_of(shape)].entries) {
      if (entry.choice == &choice && entry.shape == shape) return &entry.known;
    }
    return nullptr;
  }
  /// Puts a call in place of the one that was first in its set. `plan` has the reason; the call is one that means the
  /// same whenever it is made, and is not known. Allocates for the first call, and when the first set is full: most
  /// communicators have few calls.
  void add(const Call& call, const InternedChoice& choice, std::shared_ptr<const BoundPlan> plan, Count bytes) {
    if (sets_.empty()) sets_.resize(1);
    const CallShape shape(call);
    if (sets_.size() == 1 && sets_[0].is_full()) spread();
    const std::string_view reason = plan->native_reason();
    Set& set = sets_[set_of(shape)];
    set.entries[set.oldest] = {&choice, shape, {reason, bytes}, std::move(plan)};
    set.oldest = (set.oldest + 1) % set.entries.size();
  }
  void clear() noexcept { sets_ = {}; }

 private:
  struct Entry {
    const InternedChoice* choice = nullptr;  ///< none: the place is free
    CallShape shape{};
    Known known{};
    std::shared_ptr<const BoundPlan> plan{};
  };
  /// One place for each would not do: of ten calls that take turns two would most likely have the same.
  struct Set {
    std::array<Entry, 4> entries{};
    std::size_t oldest = 0;
    [[nodiscard]] bool is_full() const { return entries[oldest].choice != nullptr; }
  };
  static constexpr int set_bits = 4;

  /// From one set to all of them.
  void spread() {
    std::vector<Set> all(std::size_t{1} << set_bits);
    all.swap(sets_);
    for (Entry& entry : all[0].entries) {
      Set& set = sets_[set_of(entry.shape)];
      set.entries[set.oldest] = std::move(entry);
      set.oldest = (set.oldest + 1) % set.entries.size();
    }
  }

  [[nodiscard]] std::size_t set_of(const CallShape& shape) const {
    return static_cast<std::size_t>(shape.hash() >> (64 - set_bits)) & (sets_.size() - 1);
  }

  std::vector<Set> sets_{};  ///< none, one, or all
};

}  // namespace circoll::mpi
