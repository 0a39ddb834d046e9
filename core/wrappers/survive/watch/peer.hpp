// One connection of a mesh.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "facts/files.hpp"

namespace circoll::watch {

/// Another process of the job. Messages go as their length and their bytes; the length 0 is the leave.
struct Peer {
  FileDescriptor socket;
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
