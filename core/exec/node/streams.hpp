// Messages that come bit by bit: through a pipe in the sender's segment, or in pieces through the lane.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "exec/node/board.hpp"
#include "exec/node/message.hpp"

namespace circoll::node {

/// The pipes that this process writes into. Each has one message, and its memory is a block of the own store.
class OutgoingPipes {
 public:
  /// `bytes` is the memory of a pipe.
  OutgoingPipes(Store& store, std::size_t bytes) : store_(&store), bytes_(bytes) { messages_.reserve(usual_messages); }

  [[nodiscard]] bool empty() const { return messages_.empty(); }
  /// Begins a message. Returns its announcement, or nothing if the store has no room for a pipe.
  [[nodiscard]] std::optional<Announcement> begin(Outgoing& message);
  /// Writes into all pipes as many bytes as they have room for. True if it wrote anything.
  bool fill();
  [[nodiscard]] bool has(const Outgoing& message) const;
  /// Goes on with another message in the same pipe; with nullptr the pipe is given up.
  void replace(const Outgoing& message, Outgoing* by) noexcept;

 private:
  bool fill(Outgoing& message) const;

  Store* store_;
  std::size_t bytes_;
  std::vector<Outgoing*> messages_{};
};

/// The pipes and pieces that this process reads. Of messages in pieces only one is under way at a time.
class IncomingStreams {
 public:
  /// `store` is the peer's.
  explicit IncomingStreams(const StoreView& store) : store_(&store) { pipes_.reserve(usual_messages); }

  /// True if no pipe is open.
  [[nodiscard]] bool no_pipes() const { return pipes_.empty(); }
  void begin_pipe(Incoming& message, const Announcement& announcement);
  /// `come` bytes have come already.
  void begin_pieces(Incoming& message, const Announcement& announcement, std::size_t come);
  /// True if the next piece belongs to a message that has begun here.
  [[nodiscard]] bool expects_pieces() const { return pieces_.has_value(); }
  void take_piece(std::span<const std::byte> data);
  /// Reads all that the pipes hold. True if anything has moved.
  bool drain();
  /// Reads on for a message that is given up, and puts it nowhere.
  void abandon(const Incoming& message) noexcept;

 private:
  struct Stream {
    Incoming* message = nullptr;  ///< nullptr: it was given up
    Announcement announcement{};
    std::size_t come = 0;
    bool over = false;

    void end() {
      over = true;
      if (message != nullptr) message->over = true;
    }
  };
  bool drain(Stream& stream) const;

  const StoreView* store_;
  std::vector<Stream> pipes_{};
  std::optional<Stream> pieces_{};
};

}  // namespace circoll::node
