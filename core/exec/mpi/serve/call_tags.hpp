// The tags of an operation's messages.
#pragma once

#include <cstdint>
#include <string_view>

#include "exec/mpi/comm/communicator.hpp"

namespace circoll::mpi {

/// The way in which the messages of one operation are told apart from those of others on the communicator. Blocking
/// calls of a collective have the same tags always; nonblocking ones are numbered; persistent ones have their own.
class CallTags {
 public:
  explicit CallTags(CommState& state) : state_(state) {}
  ~CallTags() {
    // Others may have started theirs, and sent.
    if (order_ == Order::reserved && state_.find_failure() != MPI_SUCCESS) reserved_.spoil();
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
  void spoil() noexcept {
    if (order_ == Order::reserved) {
      reserved_.spoil();
    } else {
      state_.spoil_tags();
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

}  // namespace circoll::mpi
