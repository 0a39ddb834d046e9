// The calls that are known on a communicator, so that one which comes again costs little.
//
// A call may amount to another collective, or to another call of its own, which is known then (RewrittenCall).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/bound_plan.hpp"
#include "exec/mpi/serve/operation.hpp"
#include "facts/hash.hpp"
#include "facts/set_cache.hpp"

namespace circoll::mpi {

/// A call that was left to the MPI library.
///
/// Where the library is faster it is only a little faster. So it must cost next to nothing to find this out again.
struct NativeCall {
  std::string_view reason{};  ///< why the call is native
  Count bytes = 0;            ///< CallResult::bytes
};

/// The memory of a call: at most one of the two.
struct KnownCall {
  Operation* served = nullptr;  ///< ready to be made again, with the addresses of this call
  const NativeCall* native = nullptr;
};

/// The memory of blocking calls. Operations keep the parsed arguments and the plan, from the second call of a kind on.
/// Used by one thread at a time, as the communicator is.
class KnownCalls final : public Attachment {
 public:
  static constexpr Slot slot = Slot::calls;

  /// The one look-up of a call, on the communicator of `state`.
  [[nodiscard]] KnownCall find(const Call& call, const InternedChoice& choice, const CommState& state) {
    const CallShape shape(call, state.rank(), state.size());
    Entry* const entry = calls_.find(shape.hash(), [&](Entry& one) {
      return one.choice == &choice && one.shape == shape &&
             (one.served == nullptr || one.served->again(call, shape, choice));
    });
    if (entry == nullptr) return {};
    return entry->served != nullptr ? KnownCall{.served = entry->served.get()} : KnownCall{.native = &entry->native};
  }

  /// Copies of the arrays to which a call refers.
  struct Arrays {
    std::vector<Count> numbers{};
    std::vector<MPI_Datatype> types{};
  };
  /// Keeps an operation that was served. It takes the place of one for the same shape, which has not served again.
  void keep(std::unique_ptr<Operation> operation, const InternedChoice& choice, Arrays arrays) {
    const CallShape shape = operation->shape();
    if (Entry* const stale = find_served(shape, choice)) {
      stale->served = std::move(operation);
      stale->arrays = std::move(arrays);
      return;
    }
    calls_.add({&choice, shape, std::move(arrays), std::move(operation), {}, {}, 0});
  }
  /// True if it is worth keeping a call that was not known. A program may make the datatypes of each call anew. Then
  /// the operation that is kept never serves again, and is replaced after 1, 2, 4, ... calls.
  [[nodiscard]] bool wants(const CallShape& shape, const InternedChoice& choice) {
    Entry* const stale = find_served(shape, choice);
    return stale == nullptr || std::has_single_bit(++stale->misses);
  }
  /// Remembers a call that was left native, for the reason that `plan` has. The call must mean the same whenever it is
  /// made, and must not be known yet.
  void add_native(const CallShape& shape, const InternedChoice& choice, std::shared_ptr<const BoundPlan> plan,
                  Count bytes) {
    const std::string_view reason = plan->native_reason();
    calls_.add({&choice, shape, {}, nullptr, {reason, bytes}, std::move(plan), 0});
  }

  /// True if a call like this one was probably among the last calls asked about.
  [[nodiscard]] bool has_seen(const CallShape& shape, const InternedChoice& choice) {
    const std::uint32_t mark = mark_of(shape, choice);
    Seen& seen = seen_[mark >> 29U];
    if (std::find(seen.marks.begin(), seen.marks.end(), mark) != seen.marks.end()) return true;
    seen.marks[seen.next++ % seen.marks.size()] = mark;
    return false;
  }

  void clear() noexcept override { calls_.clear(); }

  /// The counts that the prologue of the current call has learned. For gatherv and scatterv there are p, and for
  /// alltoallv those of the known blocks.
  std::vector<Count> counts;

 private:
  struct Entry {
    const InternedChoice* choice = nullptr;  ///< none: the place is free
    CallShape shape{};
    Arrays arrays{};  ///< of the operation's call
    std::unique_ptr<Operation> served{};
    NativeCall native{};
    std::shared_ptr<const BoundPlan> plan{};  ///< keeps the reason of a native call
    std::uint32_t misses = 0;                 ///< calls of this shape that `served` did not serve

    [[nodiscard]] bool used() const { return choice != nullptr; }
    [[nodiscard]] std::uint64_t hash() const { return shape.hash(); }
  };
  /// The last kinds of calls that were made once.
  struct Seen {
    std::array<std::uint32_t, 8> marks{};
    std::uint8_t next = 0;
  };

  [[nodiscard]] Entry* find_served(const CallShape& shape, const InternedChoice& choice) {
    return calls_.find(shape.hash(), [&](const Entry& one) {
      return one.choice == &choice && one.shape == shape && one.served != nullptr;
    });
  }

  /// A mark is never 0, because 0 marks a free place.
  static std::uint32_t mark_of(const CallShape& shape, const InternedChoice& choice) {
    const std::uint64_t mark = QuickHash()
                                   .add(static_cast<std::uint64_t>(shape.sendcount))
                                   .add(static_cast<std::uint64_t>(shape.recvcount))
                                   .add(static_cast<std::uint64_t>(shape.root) << 16U |
                                        static_cast<std::uint64_t>(shape.collective) << 8U | shape.buffers)
                                   .add(shape.arrays)
                                   .add(reinterpret_cast<std::uintptr_t>(&choice))
                                   .value();
    return static_cast<std::uint32_t>(mark >> 32U) | 1U;
  }

  SetCache<Entry, 6, 4> calls_;
  std::array<Seen, 8> seen_{};
};

/// The reduce to which a reduce_scatter amounts if one rank gets everything (Traff et al., guideline (6)). Nothing if
/// several ranks get something, or none. All ranks find the same, because all have the same counts. There is one
/// exception: a rank whose buffers are an error leaves the report to the native call, and the other ranks do not see
/// that. O(p).
[[nodiscard]] std::optional<Call> as_reduce(const Call& call, Rank rank, Rank size);

/// The key by which a reduce_scatter is remembered if its counts are all equal and not 0. That count stands in place of
/// the array, which the program may change. The key is not a call to be made. Nothing for other calls. All ranks find
/// the same, because all have the same counts. O(p).
[[nodiscard]] std::optional<Call> with_one_count(const Call& call, Rank size);

/// Remembers a call that `operation` has found to be native, if it means the same whenever it is made.
void remember_native(CommState& state, const Call& call, const InternedChoice& choice, const Operation& operation);

/// The call that serves a call, and the knowledge about it. A policy decides about a reduce_scatter to one rank as
/// about a reduce. An algorithm that was chosen by name is kept. Refers to its arguments.
class RewrittenCall {
 public:
  RewrittenCall(const Call& call, const InternedChoice& choice, CommState& state);
  RewrittenCall(const RewrittenCall&) = delete;
  RewrittenCall& operator=(const RewrittenCall&) = delete;

  [[nodiscard]] const Call& call() const { return *call_; }
  [[nodiscard]] const InternedChoice& choice() const { return *choice_; }
  [[nodiscard]] const KnownCall& known() const { return known_; }

 private:
  const Call* call_;
  const InternedChoice* choice_;
  KnownCall known_;
  std::optional<Call> reduce_;
};

}  // namespace circoll::mpi
