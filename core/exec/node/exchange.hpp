// Messages between this process and its peers on the node, through the segments of both.
//
// Messages of two processes are matched by keys, in the order in which they were sent. The sender chooses the way of
// each message and says it in a line of a lane:
//   - in the line itself,
//   - stored in the sender's segment,
//   - read directly from the sender's memory,
//   - through a pipe in the segment,
//   - in pieces through the lane, where the segment has no room.
// The sender helps to write a long message that the receiver reads directly, if it has nothing else to do
// (shared_copy.hpp). Pieces need no memory and no agreement, so that every message arrives whatever else is under way.
// A receiver takes lines out of the lane whether or not a receive expects them. So no message is in the way of another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exec/node/board.hpp"
#include "exec/node/direct_copy.hpp"
#include "exec/node/direct_reads.hpp"
#include "exec/node/lane.hpp"
#include "exec/node/message.hpp"
#include "exec/node/offers.hpp"
#include "exec/node/segment.hpp"
#include "exec/node/streams.hpp"
#include "facts/ring.hpp"

namespace circoll::node {

/// The ways that a sender chooses among.
struct Ways {
  bool direct = true;                ///< if peers can read the sender's memory
  std::size_t direct_from = 32768;   ///< bytes from which on they do
  std::size_t far_from = 8192;       ///< the same where the two processors are far apart, and not crowded
  double far_ns = 14;                ///< from which on they are: the time to write a cache line that the peer has read
  std::size_t shared_from = 524288;  ///< bytes from which on the sender writes a part of what they read
  std::size_t stored_to = 16384;     ///< bytes up to which a message is stored as a whole
  std::size_t pipe_bytes = 65536;    ///< of the memory of a pipe
};

/// The connection with one peer. Used by one thread at a time.
class Connection {
 public:
  /// Maps the peer's segment. If that fails, reason() says why, and there is no connection.
  Connection(const Segment& own_segment, Board& own_board, Store& own_store, const Address& peer, const Ways& ways);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] Reason reason() const { return reason_; }
  [[nodiscard]] const Ways& ways() const { return ways_; }
  /// Why this process does not read the peer's memory directly.
  [[nodiscard]] Reason reading() const { return copy_.reading(); }
  /// Ranks take turns on too few processors. Then the price of a message is not the copy, but the wait.
  void set_crowded() { crowded_ = true; }
  /// The bytes of its messages that this process has written into the peer's memory.
  [[nodiscard]] std::uint64_t written_bytes() const { return offers_.written_bytes(); }

  /// Sends a message that fits into lines, if that can be done at once. False: nothing has been done.
  [[nodiscard]] bool send_whole(std::uint64_t key, std::span<const std::byte> data) {
    if (data.size() > Lane::most_bytes || !waiting_.empty() || writer_.full(Lane::lines_for(data.size()))) return false;
    writer_.put(static_cast<std::uint16_t>(LineKind::whole), key, data);
    return true;
  }
  /// The longest message that may go and come at once.
  static constexpr std::size_t most_at_once = 16384;
  /// Sends a message if that can be done at once, in lines or stored. False: nothing has been done.
  [[nodiscard]] bool send_at_once(std::uint64_t key, std::span<const std::byte> data) {
    return send_whole(key, data) || (data.size() > Line::most_bytes && send_stored(key, data));
  }
  enum class Taken : std::uint8_t {
    nothing,  ///< there is none
    message,  ///< it has been received
    other,    ///< there is something else to be done, by receive() and poll()
  };
  /// Receives the next message in the lane, if it has exactly that length, as if by receive() and poll().
  [[nodiscard]] Taken take_at_once(std::uint64_t key, std::span<std::byte> into) {
    if (!reader_ || !quiet()) return Taken::other;
    const Line* const line = reader_->front();
    if (line == nullptr) return Taken::nothing;
    if (line->key != key) return Taken::other;
    if (line->kind == static_cast<std::uint16_t>(LineKind::whole)) {
      if (LaneReader::bytes_of(*line) != into.size()) return Taken::other;
      reader_->copy(*line, into.data());
    } else if (!take_stored(*line, into)) {
      return Taken::other;
    }
    reader_->pop();
    writer_.prepare();
    return Taken::message;
  }
  /// Begins to send. A message that is not over at once goes on in poll().
  void send(Outgoing& message);
  /// Begins to receive.
  void receive(Incoming& message) {
    message.over = message.truncated = false;
    message.reason = Reason::none;
    message.bytes = message.taken = 0;
    if (early_.empty()) {
      expected_.push_back(&message);
    } else {
      receive_early(message);
    }
  }
  /// Goes on with everything as far as possible without waiting. True if anything has moved. `idle`: this process has
  /// nothing to do but to wait, so that it may help the peer.
  bool poll(bool idle = true);
  /// Gives a message up that is not over. Its memory is not written to any more when this returns.
  void abandon(Incoming& message) noexcept;
  /// Gives a message up that is not over. It copies the rest, so that the peer does not wait for it in vain. But the
  /// peer may still read directly what it was offered. Without memory for the copy the peer does wait.
  void abandon(Outgoing& message) noexcept;

 private:
  /// A message that nobody has expected yet.
  struct Early {
    LineKind kind{};
    std::uint64_t key = 0;
    Announcement announcement{};  ///< of a whole message the bytes alone
    alignas(Taker::part_unit) std::array<std::byte, Lane::most_bytes> whole{};
    std::vector<std::byte> pieces{};  ///< that have come
  };
  /// A message whose sender has given it up.
  struct Orphan {
    std::vector<std::byte> data{};
    Outgoing message{};
  };

  /// True if poll() has work only from the lane, and no receive waits for it.
  [[nodiscard]] bool quiet() const {
    return expected_.empty() && early_.empty() && waiting_.empty() && pipes_.empty() && streams_.no_pipes() &&
           reads_.quiet() && orphans_.empty();
  }
  bool open();
  /// Sends the first line of the oldest message, and its pieces if it goes in pieces. True if the next one may follow.
  bool announce(Outgoing& message);
  /// Parts of send_at_once() and take_at_once().
  [[nodiscard]] bool send_stored(std::uint64_t key, std::span<const std::byte> data);
  [[nodiscard]] bool take_stored(const Line& line, std::span<std::byte> into) const;
  bool put_pieces(Outgoing& message);
  /// The same where messages have come that nobody has expected.
  void receive_early(Incoming& message);
  void take(const Line& line);
  /// The usual case: a message is in a line, and is the only one that is expected. True if this one was.
  [[nodiscard]] bool take_the_expected(const Line& line);
  [[nodiscard]] Incoming* expected(std::uint64_t key, const Announcement& announcement);
  void keep_early(LineKind kind, std::uint64_t key, const Announcement& announcement, std::span<const std::byte> data);
  void take_piece(std::span<const std::byte> data);
  void deliver(Incoming& message, LineKind kind, const Announcement& announcement, std::span<const std::byte> data);
  /// True if the peer is to read a message of that length, if it can be read.
  [[nodiscard]] bool goes_directly(std::size_t bytes);
  /// The copy of a message that is given up; nullptr if there is no memory for it.
  [[nodiscard]] Outgoing* orphan_of(const Outgoing& message) noexcept;

  Ways ways_;
  Store* own_store_;
  std::uint64_t own_nonce_;
  Reason reason_ = Reason::none;
  PeerSegment peer_{};
  DirectCopy copy_{};
  Board board_{};
  StoreView store_{};  ///< the peer's
  Lane* out_ = nullptr;
  Lane* in_ = nullptr;
  LaneWriter writer_{};
  std::optional<LaneReader> reader_{};

  Ring<Outgoing*> waiting_{usual_messages};  ///< to be announced, or in pieces, the oldest first
  Distance distance_;
  bool crowded_ = false;
  std::vector<Incoming*> expected_{};
  std::vector<Early> early_{};  ///< in the order of their coming
  OutgoingPipes pipes_;
  IncomingStreams streams_;
  Offers offers_;
  DirectReads reads_;
  std::deque<Orphan> orphans_{};
};

}  // namespace circoll::node
