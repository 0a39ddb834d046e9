// Lanes carry short messages from one process of the node to another, in order, through segments.
//
// A lane lies in its sender's segment, and only the sender writes to its lines. The receiver counts in a lane of its
// own, the one that goes back, how many lines it has read, so that lines are used again. So each cache line has one
// writer, and a message that fits into a line costs the transfer of one cache line. A longer one takes several lines,
// which follow one another, so that the processor fetches them together.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace circoll::node {

/// One message of a lane, or a part of one: a cache line.
struct alignas(64) Line {
  static constexpr std::size_t most_bytes = 48;

  /// The number of times that the line has been filled. It is written last, and tells that the rest is valid.
  std::atomic<std::uint32_t> turn{0};
  std::uint16_t kind = 0;    ///< its meaning, for users of lanes
  std::uint16_t length = 0;  ///< bytes of the message, whose first ones are `data`; 0 in its other lines
  std::uint64_t key = 0;     ///< the message that it belongs to, for users of lanes
  std::array<std::byte, most_bytes> data{};
};
static_assert(sizeof(Line) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

/// Copies the bytes of a short message. Most are of one or two numbers, which take one move each.
inline void copy_short(std::byte* to, const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 0:
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    default:
      std::memcpy(to, from, bytes);
  }
}

/// A lane in memory. Zeros are a lane that nobody has opened.
struct Lane {
  static constexpr std::size_t lines = 16;
  static_assert((lines & (lines - 1)) == 0);
  /// The longest message. Lines come one after another. So 192 bytes take 0.25 us as four lines and 0.28 us stored, but
  /// 256 bytes take 0.30 us as six lines and 0.29 us stored (10 collectives, 2 ranks, AMD EPYC).
  static constexpr std::size_t most_bytes = 4 * Line::most_bytes;

  /// The lines that a message of so many bytes takes.
  [[nodiscard]] static constexpr std::size_t lines_for(std::size_t bytes) {
    return bytes <= Line::most_bytes ? 1 : (bytes + Line::most_bytes - 1) / Line::most_bytes;
  }

  /// The nonce of the receiver's segment; 0 before the lane is opened.
  std::atomic<std::uint64_t> receiver{0};
  /// 1 if the owner reads the receiver's memory directly. The owner sets it before it reads the first line.
  std::atomic<std::uint32_t> reads_directly{0};
  /// The lines that the owner has read of the lane that comes back from the receiver.
  alignas(64) std::atomic<std::uint64_t> read{0};
  alignas(64) std::array<Line, lines> line{};
};

/// The sending end of a lane.
class LaneWriter {
 public:
  LaneWriter() = default;
  explicit LaneWriter(Lane& lane) : lane_(&lane) {}

  /// Sets the lane that comes back, which from now on tells how much has been read. Before, nothing counts as read.
  void use_back(const Lane& back) { back_ = &back; }
  /// True if put() of a message that takes so many lines must wait until the receiver has read.
  [[nodiscard]] bool full(std::size_t lines = 1) {
    if (written_ + lines - known_read_ <= Lane::lines) return false;
    known_read_ = back_ == nullptr ? 0 : back_->read.load(std::memory_order_acquire);
    return written_ + lines - known_read_ > Lane::lines;
  }
  /// Sends a message of at most Lane::most_bytes bytes. Precondition: not full() for its lines.
  void put(std::uint16_t kind, std::uint64_t key, std::span<const std::byte> data) {
    Line& line = lane_->line[written_ % Lane::lines];
    const std::uint64_t next = data.size() <= Line::most_bytes ? written_ + 1 : put_behind(data);
    line.kind = kind;
    line.length = static_cast<std::uint16_t>(data.size());
    line.key = key;
    copy_short(line.data.data(), data.data(), std::min(data.size(), Line::most_bytes));
    line.turn.store(turn_of(written_), std::memory_order_release);
    written_ = next;
  }
  /// Asks for the line that put() writes next, which the receiver has read last, before it is needed.
  void prepare() const { __builtin_prefetch(&lane_->line[written_ % Lane::lines], 1); }

  /// The turn of a line that holds the message of this number. A bit is always set, so that zeros are no message.
  [[nodiscard]] static std::uint32_t turn_of(std::uint64_t number) {
    return static_cast<std::uint32_t>(number / Lane::lines) | 1U << 31U;
  }

 private:
  /// Writes the bytes that do not fit into the first line. The first line is written last, and so announces all of
  /// them. Returns the number of the next line.
  std::uint64_t put_behind(std::span<const std::byte> data) {
    std::uint64_t number = written_ + 1;
    for (std::size_t at = Line::most_bytes; at < data.size(); at += Line::most_bytes, ++number) {
      Line& line = lane_->line[number % Lane::lines];
      line.length = 0;
      std::memcpy(line.data.data(), data.data() + at, std::min(Line::most_bytes, data.size() - at));
      line.turn.store(turn_of(number), std::memory_order_relaxed);
    }
    return number;
  }

  Lane* lane_ = nullptr;
  const Lane* back_ = nullptr;
  std::uint64_t written_ = 0;
  std::uint64_t known_read_ = 0;
};

/// The receiving end of a lane.
class LaneReader {
 public:
  LaneReader() = default;
  /// `own` is the lane that goes back to the sender.
  LaneReader(const Lane& lane, Lane& own) : lane_(&lane), own_(&own) {}

  /// The next message, or nullptr. It stays until pop().
  [[nodiscard]] const Line* front() const {
    const Line& line = lane_->line[read_ % Lane::lines];
    return line.turn.load(std::memory_order_acquire) == LaneWriter::turn_of(read_) ? &line : nullptr;
  }
  /// The bytes of the message of front().
  [[nodiscard]] static std::size_t bytes_of(const Line& front) {
    return std::min<std::size_t>(front.length, Lane::most_bytes);
  }
  /// Copies them, from all of its lines.
  void copy(const Line& front, std::byte* to) const {
    const std::size_t bytes = bytes_of(front);
    copy_short(to, front.data.data(), std::min(bytes, Line::most_bytes));
    std::uint64_t number = read_ + 1;
    for (std::size_t at = Line::most_bytes; at < bytes; at += Line::most_bytes, ++number) {
      std::memcpy(to + at, lane_->line[number % Lane::lines].data.data(), std::min(Line::most_bytes, bytes - at));
    }
  }
  /// Gives the lines of front() back. The sender learns of it at quarters of the lane, since each notice costs it a
  /// line.
  void pop() {
    const std::uint64_t before = read_;
    read_ += Lane::lines_for(bytes_of(lane_->line[read_ % Lane::lines]));
    if (before / quarter != read_ / quarter) own_->read.store(read_, std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t quarter = Lane::lines / 4;

  const Lane* lane_ = nullptr;
  Lane* own_ = nullptr;
  std::uint64_t read_ = 0;
};

}  // namespace circoll::node
