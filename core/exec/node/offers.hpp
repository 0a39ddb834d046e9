// Messages that the peer reads out of this process's memory: the sender's side. The receiver's side is DirectReads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/node/board.hpp"
#include "exec/node/direct_copy.hpp"
#include "exec/node/message.hpp"
#include "exec/node/shared_copy.hpp"

namespace circoll::node {

/// The offers that this process has made to one peer. An offer is open until the peer acknowledges it. The sender of a
/// long message writes parts of it into the peer's memory meanwhile (shared_copy.hpp).
class Offers {
 public:
  /// All belong to the connection. `store` is the own one; messages of `shared_from` bytes are written by both.
  Offers(Store& store, const DirectCopy& copy, Distance& distance, std::size_t shared_from)
      : store_(&store), copy_(&copy), distance_(&distance), shared_from_(shared_from) {
    offers_.reserve(usual_messages);
    writing_.reserve(usual_messages);
  }

  /// Offers a message whose memory is in one piece. Returns the announcement.
  [[nodiscard]] Announcement make(Outgoing& message);
  /// Ends an offer, and its message. If the peer could not read the message, it is returned, to go another way.
  [[nodiscard]] Outgoing* acknowledged(const Announcement& announcement);
  /// The peer says where a message goes.
  void take_destination(const Announcement& announcement);
  /// Writes a part of each message whose destination is known. True if anything has moved.
  bool write();
  /// True if write() has nothing to do.
  [[nodiscard]] bool none_to_write() const { return writing_.empty(); }
  /// The bytes that this process has written into the peer's memory.
  [[nodiscard]] std::uint64_t written_bytes() const { return written_bytes_; }
  /// Writes no more of a message. The peer may still read it.
  void abandon(const Outgoing& message) noexcept;

 private:
  struct Offer {
    Outgoing* message = nullptr;  ///< nullptr: it was given up
    bool open = false;            ///< the peer has not acknowledged it
    std::size_t shared = 0;       ///< the offset of its SharedProgress
  };
  /// A message that both ends copy, whose destination is known, and that has parts left.
  struct Writing {
    std::uint64_t id = 0;
    SharedWrite write;
  };
  /// Takes memory for the progress of an offer; 0 if the sender is not to help.
  [[nodiscard]] std::size_t share(const Outgoing& message);

  Store* store_;
  const DirectCopy* copy_;
  Distance* distance_;
  std::size_t shared_from_;
  std::vector<Offer> offers_{};  ///< by id
  std::vector<Writing> writing_{};
  std::uint64_t written_bytes_ = 0;
};

}  // namespace circoll::node
