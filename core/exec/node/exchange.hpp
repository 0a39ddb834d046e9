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

#include <algorithm>
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
#include "exec/node/lane.hpp"
#include "exec/node/pieces.hpp"
#include "exec/node/segment.hpp"
#include "exec/node/shared_copy.hpp"
#include "facts/ring.hpp"

namespace circoll::node {

/// A message that this process sends. It belongs to the caller, and stays where it is until it is over.
struct Outgoing {
  std::uint64_t key = 0;
  Pieces<const std::byte> data{};
  bool may_help = true;  ///< there is a processor for this process, so that it may copy a part of a long message
  bool over = false;     ///< the data may be written to
  // For the exchange.
  std::size_t done = 0;       // bytes that have gone into the pipe or, in pieces, into the lane
  std::size_t pipe = 0;       // the offset of its pipe
  std::uint64_t refused = 0;  // 1 + the id of the offer that the peer could not read
  bool in_pieces = false;     // they have begun
};

/// A message that this process receives. It belongs to the caller, and stays where it is until it is over.
struct Incoming {
  std::uint64_t key = 0;
  Pieces<std::byte> into{};
  Taker* taker = nullptr;     ///< it gets the parts, in order, and `into` is memory that they may pass through
  bool may_be_helped = true;  ///< the sender may write a part, which is slower to be used then
  bool over = false;
  bool truncated = false;        ///< the message was longer
  Reason reason = Reason::none;  ///< why it has not come
  std::size_t bytes = 0;         ///< of the message, as far as there is room
  // For the exchange.
  std::size_t taken = 0;  // bytes that the taker has got

  /// Passes on the bytes from `at` on, as many as there is room for.
  void put(std::size_t at, std::span<const std::byte> data) {
    if (taker == nullptr) return copy_to(into, at, data);
    data = data.first(std::min(data.size(), into.size() - std::min(at, into.size())));
    const std::size_t again = std::min(data.size(), taken - std::min(at, taken));
    if (again == data.size()) return;
    taker->take(at + again, data.subspan(again));
    taken = at + data.size();
  }
};

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
  [[nodiscard]] std::uint64_t written_bytes() const { return written_bytes_; }

  /// Sends a message that fits into lines, if that can be done at once. False: nothing has been done.
  [[nodiscard]] bool send_whole(std::uint64_t key, std::span<const std::byte> data) {
    if (data.size() > Lane::most_bytes || !waiting_.empty() || writer_.full(Lane::lines_for(data.size()))) return false;
    writer_.put(static_cast<std::uint16_t>(Kind::whole), key, data);
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
    if (line->kind == static_cast<std::uint16_t>(Kind::whole)) {
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
  enum class Kind : std::uint16_t { whole, stored, direct, piped, pieces, piece, ack, destination };
  /// The content of a line that announces a message that is not in it.
  struct Announcement {
    std::uint64_t bytes = 0;
    std::uint64_t where = 0;  ///< an offset in the sender's store, or an address
    std::uint64_t id = 0;     ///< of a message that is read directly; of a pipe the bytes
    /// 1 + the id of the offer in whose place this comes; of an acknowledgement 1 if refused.
    std::uint64_t refused = 0;
    /// The offset of the SharedProgress in the sender's store; 0 if the sender does not help.
    std::uint64_t shared = 0;
  };
  /// A message that nobody has expected yet.
  struct Early {
    Kind kind{};
    std::uint64_t key = 0;
    Announcement announcement{};  ///< of a whole message the bytes alone
    alignas(Taker::part_unit) std::array<std::byte, Lane::most_bytes> whole{};
    std::vector<std::byte> pieces{};  ///< that have come
  };
  /// A message that comes through a pipe or in pieces.
  struct Stream {
    Incoming* message = nullptr;  ///< nullptr: it was given up
    Announcement announcement{};
    std::size_t come = 0;
    bool over = false;
  };

  /// A message that is to be read directly.
  struct Due {
    Incoming* message = nullptr;  ///< nullptr: it was given up
    std::uint64_t id = 0;
    std::uint64_t where = 0;
  };
  /// A message that has been read directly. The peer does not know that yet.
  struct Acknowledgement {
    std::uint64_t id = 0;
    Incoming* message = nullptr;  ///< nullptr: it was given up, or it will come another way
    bool refused = false;
  };
  /// A message that could not be read directly, and comes another way.
  struct Refused {
    std::uint64_t id = 0;
    Incoming* message = nullptr;  ///< nullptr: it was given up
  };
  /// A message that is read directly by the peer.
  struct Offer {
    Outgoing* message = nullptr;  ///< nullptr: it was given up
    bool open = false;            ///< the peer has not acknowledged it
    std::size_t shared = 0;       ///< the offset of its SharedProgress
  };
  /// A message that both ends copy, at the receiver.
  struct Reading {
    Incoming* message = nullptr;  ///< nullptr: it was given up
    std::uint64_t id = 0;
    SharedRead read;
  };
  /// A message that both ends copy, at the sender.
  struct Writing {
    std::uint64_t id = 0;
    SharedWrite write;
  };
  /// A message whose sender has given it up.
  struct Orphan {
    std::vector<std::byte> data{};
    Outgoing message{};
  };

  /// True if poll() has work only from the lane, and no receive waits for it.
  [[nodiscard]] bool quiet() const {
    return expected_.empty() && early_.empty() && waiting_.empty() && piping_.empty() && pipes_.empty() &&
           due_.empty() && acks_.empty() && orphans_.empty();
  }
  bool open();
  [[nodiscard]] bool put(Kind kind, std::uint64_t key, std::span<const std::byte> data);
  [[nodiscard]] bool put(Kind kind, std::uint64_t key, const Announcement& announcement);
  /// Sends the first line of the oldest message, and its pieces if it goes in pieces. True if the next one may follow.
  bool announce(Outgoing& message);
  /// Parts of send_at_once() and take_at_once().
  [[nodiscard]] bool send_stored(std::uint64_t key, std::span<const std::byte> data);
  [[nodiscard]] bool take_stored(const Line& line, std::span<std::byte> into) const;
  /// Writes as many bytes into a pipe as it has room for. True if it wrote anything.
  bool fill(Outgoing& message);
  bool put_pieces(Outgoing& message);
  /// The same where messages have come that nobody has expected.
  void receive_early(Incoming& message);
  void take(const Line& line);
  /// The usual case: a message is in a line, and is the only one that is expected. True if this one was.
  [[nodiscard]] bool take_the_expected(const Line& line);
  void take_acknowledgement(const Announcement& announcement);
  [[nodiscard]] Incoming* expected(std::uint64_t key, const Announcement& announcement);
  void keep_early(Kind kind, std::uint64_t key, const Announcement& announcement, std::span<const std::byte> data);
  void take_piece(std::span<const std::byte> data);
  void deliver(Incoming& message, Kind kind, const Announcement& announcement, std::span<const std::byte> data);
  // Of messages that are read directly, in exchange_direct.cpp.
  /// True if the peer is to read a message of that length, if it can be read.
  [[nodiscard]] bool goes_directly(std::size_t bytes);
  bool announce_direct(Outgoing& message);
  void deliver_directly(Incoming& message, const Announcement& announcement);
  bool read_due();
  [[nodiscard]] bool read_directly(Incoming& message, std::uint64_t from) const;
  [[nodiscard]] bool read_parts(Incoming& message, std::uint64_t from) const;
  /// Says whether a message has been read directly.
  void answer(Incoming* message, std::uint64_t id, bool refused);
  bool acknowledge();
  // Of messages that both ends copy, there as well.
  /// Takes memory for the progress of an offer; 0 if the sender is not to help.
  [[nodiscard]] std::size_t share(const Outgoing& message);
  /// Tells the sender where the message goes. False: only this process reads it.
  [[nodiscard]] bool begin_shared(Incoming& message, const Announcement& announcement);
  void take_destination(const Announcement& announcement);
  bool read_shared();
  bool write_shared();
  /// When this returns, neither end writes to the message's memory any more.
  void stop_shared(const Incoming& message) noexcept;
  bool drain(Stream& stream);
  void end(Stream& stream);
  /// The copy of a message that is given up; nullptr if there is no memory for it.
  [[nodiscard]] Outgoing* orphan_of(const Outgoing& message) noexcept;

  /// Messages under way for which there is memory from the beginning.
  static constexpr std::size_t usual = 32;

  Ways ways_;
  Address address_;  ///< the peer's
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

  Ring<Outgoing*> waiting_{usual};     ///< to be announced, or in pieces, the oldest first
  std::vector<Outgoing*> piping_{};    ///< through pipes
  std::vector<Offer> offers_{};        ///< by id
  std::vector<Refused> refused_{};     ///< by this process, the oldest first
  Ring<Acknowledgement> acks_{usual};  ///< still to be put into the lane
  Ring<Due> due_{usual};
  std::vector<Reading> reading_{};
  std::vector<Writing> writing_{};  ///< whose destination is known, and that have parts left
  std::uint64_t written_bytes_ = 0;
  Distance distance_;
  bool crowded_ = false;
  std::vector<Incoming*> expected_{};
  std::vector<Early> early_{};  ///< in the order of their coming
  std::vector<Stream> pipes_{};
  std::optional<Stream> pieces_{};  ///< under way in the lane, for an expected message
  std::deque<Orphan> orphans_{};
};

}  // namespace circoll::node
