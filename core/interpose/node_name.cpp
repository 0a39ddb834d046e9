#include "interpose/node_name.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace circoll::interpose {
namespace {

/// A socket, and the address of a name. The first byte of the path is a NUL: the address is in no file system.
struct Named {
  explicit Named(const std::string& name) : descriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    address.sun_family = AF_UNIX;
    const std::string text = "circoll " + std::to_string(getuid()) + " " + name;
    const std::size_t length = std::min(text.size(), sizeof address.sun_path - 1);
    std::copy_n(text.data(), length, address.sun_path + 1);
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  int descriptor;
  sockaddr_un address{};
  socklen_t bytes = 0;
};

}  // namespace

int take_node_name(const std::string& name) {
  const Named named(name);
  if (named.descriptor < 0 || bind(named.descriptor, named.get(), named.bytes) == 0) return named.descriptor;
  const int error = errno;
  close(named.descriptor);
  errno = error;
  return -1;
}

bool is_node_name_taken(const std::string& name) {
  const Named named(name);
  if (named.descriptor < 0) return false;
  const bool taken = connect(named.descriptor, named.get(), named.bytes) == 0;
  close(named.descriptor);
  return taken;
}

bool first_on_node(const std::string& name) {
  errno = 0;
  return take_node_name(name) >= 0 || errno != EADDRINUSE;  // the descriptor stays open, and with it the name taken
}

}  // namespace circoll::interpose
