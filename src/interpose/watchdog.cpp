#include "interpose/watchdog.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

namespace circoll::interpose {

Watchdog::Watchdog(std::chrono::seconds patience, std::function<void()> bark)
    : thread_([this, patience, bark = std::move(bark)] {
        std::unique_lock lock(mutex_);
        if (!over_.wait_for(lock, patience, [this] { return is_over_; })) bark();
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  thread_.join();
}

bool first_on_node(const std::string& name) {
  // An address that begins with a NUL is in no file system and goes with the process.
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = "circoll " + std::to_string(getuid()) + " " + name;
  const std::size_t length = std::min(text.size(), sizeof address.sun_path - 1);
  std::copy_n(text.data(), length, address.sun_path + 1);
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return true;
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  const int failed = bind(descriptor, reinterpret_cast<const sockaddr*>(&address), bytes);
  if (failed == 0) return true;  // the descriptor stays open, and with it the name taken
  const bool taken = errno == EADDRINUSE;
  close(descriptor);
  return !taken;
}

}  // namespace circoll::interpose
