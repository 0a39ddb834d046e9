// Messages that this process reads out of the peer's memory: the receiver's side. The sender's side is Offers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/node/board.hpp"
#include "exec/node/direct_copy.hpp"
#include "exec/node/message.hpp"
#include "exec/node/segment.hpp"
#include "exec/node/shared_copy.hpp"
#include "facts/ring.hpp"

namespace circoll::node {

/// The messages of one peer that this process reads, until it has acknowledged them. A message that cannot be read is
/// refused, and comes another way.
class DirectReads {
 public:
  /// All belong to the connection. `store` is the peer's, `writer` writes to it.
  DirectReads(const Address& peer, const DirectCopy& copy, const StoreView& store, LaneWriter& writer)
      : peer_(peer), copy_(&copy), store_(&store), writer_(&writer) {
    reading_.reserve(usual_messages);
  }

  /// True if no message is due, and none to be acknowledged.
  [[nodiscard]] bool quiet() const { return due_.empty() && acks_.empty(); }
  /// True if nothing is to be done.
  [[nodiscard]] bool empty() const { return quiet() && reading_.empty(); }
  void deliver(Incoming& message, const Announcement& announcement);
  /// Each returns true if anything has moved.
  bool read_due();
  bool read_shared();
  bool acknowledge();
  /// The refused message that an announcement is for; nullptr if it was given up, or if there is none.
  [[nodiscard]] Incoming* take_refused(const Announcement& announcement);
  /// When this returns, neither end writes to the message's memory any more.
  void abandon(const Incoming& message) noexcept;

 private:
  struct Due {
    Incoming* message = nullptr;  ///< nullptr: it was given up
    std::uint64_t id = 0;
    std::uint64_t where = 0;
  };
  /// A message that has been read. The peer does not know that yet.
  struct Acknowledgement {
    std::uint64_t id = 0;
    Incoming* message = nullptr;  ///< nullptr: it was given up, or it will come another way
    bool refused = false;
  };
  /// A message that could not be read.
  struct Refused {
    std::uint64_t id = 0;
    Incoming* message = nullptr;  ///< nullptr: it was given up
  };
  /// A message that both ends copy.
  struct Reading {
    Incoming* message = nullptr;  ///< nullptr: it was given up
    std::uint64_t id = 0;
    SharedRead read;
  };

  [[nodiscard]] bool read_directly(Incoming& message, std::uint64_t from) const;
  [[nodiscard]] bool read_parts(Incoming& message, std::uint64_t from) const;
  /// Says whether a message has been read.
  void answer(Incoming* message, std::uint64_t id, bool refused);
  /// Tells the sender where the message goes. False: only this process reads it.
  [[nodiscard]] bool begin_shared(Incoming& message, const Announcement& announcement);
  void stop_shared(const Incoming& message) noexcept;

  Address peer_;
  const DirectCopy* copy_;
  const StoreView* store_;
  LaneWriter* writer_;
  Ring<Due> due_{usual_messages};
  Ring<Acknowledgement> acks_{usual_messages};  ///< still to be put into the lane
  std::vector<Refused> refused_{};              ///< the oldest first
  std::vector<Reading> reading_{};
};

}  // namespace circoll::node
