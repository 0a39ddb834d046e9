// One connection of a mesh.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace circoll::watch {

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  void reset() noexcept {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

/// Another process of the job. Messages go as their length and their bytes; the length 0 is the leave.
struct Peer {
  Descriptor socket;
  std::mutex sending;
  std::vector<std::byte> received;  ///< not yet a whole message
  std::atomic<bool> left{false};
  std::atomic<bool> ended{false};

  /// Sends a message; an empty one takes leave. Thread-safe.
  void send(std::span<const std::byte> message);
  /// Reads all that has come, and calls heard(message) for each message. Returns false at the end of the connection, or
  /// if what comes is no message.
  [[nodiscard]] bool read(const std::function<void(std::span<const std::byte>)>& heard);
};

/// Sends, or receives, all bytes, waiting for them. Returns false if the connection ends, or by a time limit that the
/// socket has.
[[nodiscard]] bool send_all(int socket, std::span<const std::byte> bytes);
[[nodiscard]] bool receive_all(int socket, std::span<std::byte> bytes);

}  // namespace circoll::watch
