// Messages of a connection: those of its users, and the lines by which two processes announce them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/node/lane.hpp"
#include "exec/node/pieces.hpp"
#include "exec/node/reason.hpp"

namespace circoll::node {

/// Messages under way for which there is memory from the beginning.
inline constexpr std::size_t usual_messages = 32;

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

/// The content of a line of a lane.
enum class LineKind : std::uint16_t { whole, stored, direct, piped, pieces, piece, ack, destination };

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

/// Puts a line into a lane. False if the lane is full.
[[nodiscard]] inline bool put(LaneWriter& writer, LineKind kind, std::uint64_t key, std::span<const std::byte> data) {
  if (writer.full()) return false;
  writer.put(static_cast<std::uint16_t>(kind), key, data);
  return true;
}
[[nodiscard]] inline bool put(LaneWriter& writer, LineKind kind, std::uint64_t key, const Announcement& announcement) {
  return put(writer, kind, key, std::as_bytes(std::span(&announcement, 1)));
}

}  // namespace circoll::node
