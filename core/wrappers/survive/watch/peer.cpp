#include "wrappers/survive/watch/peer.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace circoll::watch {
namespace {

/// No message is so long: its sender does not speak our language.
constexpr std::uint32_t longest = 1U << 26U;

}  // namespace

bool send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

bool receive_all(int socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t come = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (come < 0 && errno == EINTR) continue;
    if (come <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(come));
  }
  return true;
}

void Peer::send(std::span<const std::byte> message) {
  const auto length = static_cast<std::uint32_t>(message.size());
  std::vector<std::byte> bytes(sizeof length + message.size());
  std::memcpy(bytes.data(), &length, sizeof length);
  if (!message.empty()) std::memcpy(bytes.data() + sizeof length, message.data(), message.size());
  const std::lock_guard lock(sending);
  // That the other one has ended is noticed by who reads.
  if (!ended) (void)send_all(socket.get(), bytes);
}

bool Peer::read(const std::function<void(std::span<const std::byte>)>& heard) {
  std::array<std::byte, 65536> buffer;
  bool open = true;
  while (true) {
    const ssize_t come = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (come < 0 && errno == EINTR) continue;
    if (come < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    open = come > 0;
    if (!open) break;
    received.insert(received.end(), buffer.begin(), buffer.begin() + come);
  }
  std::size_t at = 0;
  std::uint32_t length = 0;
  while (received.size() - at >= sizeof length) {
    std::memcpy(&length, received.data() + at, sizeof length);
    if (length > longest) return false;
    if (received.size() - at - sizeof length < length) break;
    const std::span<const std::byte> message(received.data() + at + sizeof length, length);
    if (message.empty()) {
      left = true;
    } else {
      heard(message);
    }
    at += sizeof length + length;
  }
  received.erase(received.begin(), received.begin() + static_cast<std::ptrdiff_t>(at));
  return open;
}

}  // namespace circoll::watch
