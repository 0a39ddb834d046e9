// Connections among all processes of a job. The kernel closes those of a process that ends, and the others hear of it.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "facts/files.hpp"

namespace circoll::watch {

/// The place where a process listens, to be handed to the others as it is.
struct Address {
  static constexpr std::size_t most = 7;

  std::uint64_t network = 0;  ///< its network stack: processes that share one reach one another by loopback
  std::array<std::uint32_t, most> ipv4{};  ///< of its interfaces, in network byte order; 0: none
  std::uint32_t port = 0;                  ///< in host byte order; 0: it does not listen
};

/// Another process of the job. Messages go as their length and their bytes; the length 0 is the leave.
struct MeshPeer {
  FileDescriptor socket;
  std::mutex sending;
  std::vector<std::byte> received;  ///< not yet a whole message
  std::atomic<bool> left{false};
  std::atomic<bool> ended{false};

  /// Sends a message; an empty one takes leave. Thread-safe.
  void send(std::span<const std::byte> message);
  /// Reads all bytes that have come, and calls heard(message) for each message. Returns false at the end of the
  /// connection, or if the bytes are no message.
  [[nodiscard]] bool read(const std::function<void(std::span<const std::byte>)>& heard);
};

/// Sends, or receives, all bytes, waiting for them. Returns false if the connection ends, or by a time limit that the
/// socket has.
[[nodiscard]] bool send_all(int socket, std::span<const std::byte> bytes);
[[nodiscard]] bool receive_all(int socket, std::span<std::byte> bytes);

/// A process that is stopped or slow keeps its connections, and is not taken for dead. A host that vanishes is taken
/// for dead, because its kernel does not answer any more (silence()).
///
/// Messages of one process arrive in order, and all of them before its end is noticed.
class Mesh {
 public:
  /// At most this many processes, each of which has a connection with every other one.
  static constexpr int most_processes = 256;
  /// The time after which a host that does not answer has vanished.
  [[nodiscard]] static constexpr std::chrono::seconds silence() { return std::chrono::seconds(10); }

  /// Begins to listen. Without a socket to be had address() has no port.
  Mesh();
  /// Leaves.
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  [[nodiscard]] const Address& address() const { return address_; }

  /// Connects with all others, who do the same, within some time. `all` has the addresses in the order of ranks. It
  /// turns away a process that does not know the secret of the job. Returns false if somebody could not be reached.
  [[nodiscard]] bool connect(int rank, std::span<const Address> all, std::uint64_t secret,
                             std::chrono::milliseconds patience);

  /// The functions that a thread of the mesh calls. They must not wait for the thread that calls the mesh.
  struct Listener {
    std::function<void(int from, std::span<const std::byte> message)> heard;
    std::function<void()> now_and_then;  ///< ten times a second, once a process has ended
  };
  /// Begins to listen to the others, after connect().
  void watch(Listener listener);

  /// Sends a message, of 1 byte at least, unless the process has ended. Thread-safe.
  void send(int to, std::span<const std::byte> message);

  /// The number of processes that have ended: it grows when there is something to look at.
  [[nodiscard]] const std::atomic<std::uint32_t>& ends() const { return ends_; }
  /// It ends after the last message that was heard of it.
  [[nodiscard]] bool has_ended(int rank) const { return peer(rank).ended; }
  /// True if a process has ended without taking leave.
  [[nodiscard]] bool has_failed(int rank) const { return peer(rank).ended && !peer(rank).left; }
  /// True if a process has taken leave, ended or not.
  [[nodiscard]] bool has_left(int rank) const { return peer(rank).left; }

  /// Tells the others that the end of this process is no failure.
  void take_leave();

 private:
  [[nodiscard]] MeshPeer& peer(int rank) const { return *peers_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool call(int rank, const Address& where, std::chrono::steady_clock::time_point until);
  [[nodiscard]] bool answer(int missing, std::chrono::steady_clock::time_point until);
  void listen();
  void close_all() noexcept;
  static void close_in_child();

  int rank_ = 0;
  std::uint64_t secret_ = 0;
  Address address_{};
  FileDescriptor listening_;
  FileDescriptor stop_;
  FileDescriptor events_;
  std::vector<std::unique_ptr<MeshPeer>> peers_;  ///< by rank; this process has none
  std::atomic<std::uint32_t> ends_{0};
  std::atomic<bool> stopping_{false};
  Listener listener_;
  std::thread thread_;
};

}  // namespace circoll::watch
