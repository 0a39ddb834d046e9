// The parts of an operation: tags, the division of its memory, and the exchange of counts before the data.
//
// Counts are exchanged where not all ranks know them: gatherv, scatterv, some of alltoallv.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"
#include "exec/mpi/call/caller_buffers.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/message/arena.hpp"
#include "exec/mpi/serve/bound_plan.hpp"

namespace circoll::mpi {

/// The tags that tell the messages of one operation from those of others on the communicator. Blocking calls of a
/// collective always have the same tags. Nonblocking operations are numbered. Persistent ones have tags of their own.
class CallTags {
 public:
  explicit CallTags(CommState& state) : state_(state) {}
  ~CallTags() {
    // Others may have started theirs, and sent.
    if (order_ == Order::reserved && state_.find_failure() != MPI_SUCCESS) reserved_.retire();
  }
  CallTags(const CallTags&) = delete;
  CallTags& operator=(const CallTags&) = delete;

  /// Takes the numbers of a nonblocking operation whose steps have so many tags.
  void take_numbers(int tags) {
    order_ = Order::numbered;
    units_ = tag_layout().units_for(tags);
    number_ = state_.take_numbers(units_);
  }
  /// Takes tags of its own. Called on all ranks, for which it waits. Returns an MPI error code; is_agreed() says
  /// whether there are any.
  [[nodiscard]] int reserve(int tags) {
    order_ = Order::reserved;
    units_ = tag_layout().units_for(tags);
    return state_.reserve(units_, &reserved_);
  }
  [[nodiscard]] bool is_agreed() const { return reserved_.agreed(); }

  [[nodiscard]] bool blocking() const { return order_ == Order::blocking; }
  [[nodiscard]] bool numbered() const { return order_ == Order::numbered; }
  [[nodiscard]] std::uint64_t first_number() const { return number_; }
  /// True if no unfinished operation has them.
  [[nodiscard]] bool free() const { return !numbered() || state_.may_start(number_, units_); }
  [[nodiscard]] Route route(Collective collective) const {
    if (order_ == Order::reserved) return state_.route(reserved_, units_);
    return order_ == Order::numbered ? state_.route(number_, units_) : state_.route(collective);
  }
  /// Keeps them from other communicators: messages may be left behind.
  void retire() noexcept {
    if (order_ == Order::reserved) {
      reserved_.retire();
    } else {
      state_.retire_tags();
    }
  }

 private:
  enum class Order : std::uint8_t { blocking, numbered, reserved };

  CommState& state_;
  Order order_ = Order::blocking;
  int units_ = 1;
  std::uint64_t number_ = 0;
  TagRange reserved_;
};

/// Offsets in bytes. Memory that is kept from one execution to the next comes first, so that its place is the same.
struct MemoryDivision {
  /// The bytes that are needed. Messages are packed in `staging`, operands of an operator of the program in `temp`, and
  /// the caller's buffers, where they have gaps, in `send` and `recv`.
  struct Needs {
    Count kept = 0, scratch = 0, staging = 0, temp = 0, send = 0, recv = 0;
  };

  MemoryDivision() = default;
  explicit MemoryDivision(const Needs& needs)
      : scratch(aligned(needs.kept)),
        staging(scratch + aligned(needs.scratch)),
        temp(staging + aligned(needs.staging)),
        send(temp + aligned(needs.temp)),
        recv(send + aligned(needs.send)),
        bytes(recv + aligned(needs.recv)) {}

  Count scratch = 0, staging = 0, temp = 0, send = 0, recv = 0;
  Count bytes = 0;  ///< of all

  /// Bytes rounded up, so that what follows is aligned for every use.
  static constexpr Count aligned(Count bytes) {
    constexpr Count alignment = ArenaPool::alignment;
    return (bytes + alignment - 1) / alignment * alignment;
  }
};

/// The counts, in packed bytes, of all blocks that will pass through this rank. For gatherv and scatterv there are p.
/// For alltoallv there are those of the prologue's known blocks.
///
/// A rank that forwards blocks may hold what other ranks of its node send and receive. Unless the caller has named the
/// algorithm, a rank of an alltoallv that sends or receives more than `most_forwarded_bytes` marks its counts. Then all
/// ranks know it after the exchange, and the data go straight.
class CountExchange {
 public:
  static constexpr Count most_forwarded_bytes = 1 << 20;

  /// `counts` is memory for what is learned. It outlives the object.
  explicit CountExchange(std::vector<Count>& counts) : counts_(counts) {}

  /// Sets the plan of the prologue. It is nullptr if the counts of other ranks are not needed.
  void set_plan(std::shared_ptr<BoundPlan> plan) { plan_ = std::move(plan); }
  [[nodiscard]] const std::shared_ptr<BoundPlan>& plan() const { return plan_; }
  /// True if the counts must be exchanged before the data. They are kept once a start has learned them.
  [[nodiscard]] bool due() const { return plan_ != nullptr && !known_; }
  void set_known() { known_ = true; }
  /// True if the data go straight, since a rank has so many.
  [[nodiscard]] bool too_long() const { return too_long_; }
  /// True if the counts are needed for the data.
  [[nodiscard]] bool forwards() const { return plan_ != nullptr && !too_long_; }

  /// Makes the memory and the binding of the exchange ready.
  void bind(CallerBuffers& user, Rank size, Arena& memory, Binding& binding);
  /// Takes the counts that have arrived. Gives the memory back.
  void collect(CallerBuffers& user, Arena& memory);
  /// Puts the counts into the signature of the data.
  void add_to(Signature& signature) const;
  /// Likewise those of a gatherv or scatterv without exchange. A rank that is not the root has its own.
  void add_known(const CallerBuffers& user, Signature& signature) const;

 private:
  std::vector<Count>& counts_;
  std::shared_ptr<BoundPlan> plan_{};
  bool known_ = false, too_long_ = false;
  std::span<Count> send_{}, recv_{}, scratch_{};  ///< in the operation's memory
};

}  // namespace circoll::mpi
