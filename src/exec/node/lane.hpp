// Lanes carry short messages from one process of the node to another, in order, through segments.
//
// A lane lies in its sender's segment, and only the sender writes to its lines. The receiver counts in a lane of its
// own, the one that goes back, how many lines it has read, so that lines are used again. So each cache line has one
// writer, and a message that fits into a line costs the transfer of one cache line.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace circoll::node {

/// One message of a lane, a cache line.
struct alignas(64) Line {
  static constexpr std::size_t most_bytes = 48;

  /// The number of times that the line has been filled. It is written last, and tells that the rest is valid.
  std::atomic<std::uint32_t> turn{0};
  std::uint16_t kind = 0;    ///< its meaning, for users of lanes
  std::uint16_t length = 0;  ///< bytes of `data`
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

  /// The nonce of the receiver's segment; 0 before the lane is opened.
  std::atomic<std::uint64_t> receiver{0};
  /// 1 if the owner reads the receiver's memory directly; said before the owner reads the first line.
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

  /// The lane that comes back tells from now on what has been read. Before, it is taken for nothing.
  void use_back(const Lane& back) { back_ = &back; }
  /// True if put() must wait until the receiver has read.
  [[nodiscard]] bool full() {
    if (written_ - known_read_ < Lane::lines) return false;
    known_read_ = back_ == nullptr ? 0 : back_->read.load(std::memory_order_acquire);
    return written_ - known_read_ >= Lane::lines;
  }
  /// Sends a message of at most Line::most_bytes bytes. Precondition: not full().
  void put(std::uint16_t kind, std::uint64_t key, std::span<const std::byte> data) {
    Line& line = lane_->line[written_ % Lane::lines];
    line.kind = kind;
    line.length = static_cast<std::uint16_t>(data.size());
    line.key = key;
    copy_short(line.data.data(), data.data(), data.size());
    line.turn.store(turn_of(written_), std::memory_order_release);
    ++written_;
  }
  /// Asks for the line that put() writes next, which the receiver has read last, before it is needed.
  void prepare() const { __builtin_prefetch(&lane_->line[written_ % Lane::lines], 1); }

  /// The turn of a line that holds the message of this number. A bit is always set, so that zeros are no message.
  [[nodiscard]] static std::uint32_t turn_of(std::uint64_t number) {
    return static_cast<std::uint32_t>(number / Lane::lines) | 1U << 31U;
  }

 private:
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
  /// Gives the line of front() back. The sender is told at a quarter of the lane, since each telling costs it a line.
  void pop() {
    ++read_;
    if (read_ % (Lane::lines / 4) == 0) own_->read.store(read_, std::memory_order_release);
  }

 private:
  const Lane* lane_ = nullptr;
  Lane* own_ = nullptr;
  std::uint64_t read_ = 0;
};

}  // namespace circoll::node
