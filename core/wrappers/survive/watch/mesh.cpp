#include "wrappers/survive/watch/mesh.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): pthread_sigmask is POSIX's
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "exec/node/place.hpp"
#include "facts/hash.hpp"

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

void MeshPeer::send(std::span<const std::byte> message) {
  const auto length = static_cast<std::uint32_t>(message.size());
  std::vector<std::byte> bytes(sizeof length + message.size());
  std::memcpy(bytes.data(), &length, sizeof length);
  if (!message.empty()) std::memcpy(bytes.data() + sizeof length, message.data(), message.size());
  const std::lock_guard lock(sending);
  // That the other one has ended is noticed by who reads.
  if (!ended) (void)send_all(socket.get(), bytes);
}

bool MeshPeer::read(const std::function<void(std::span<const std::byte>)>& heard) {
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

namespace {

using Clock = std::chrono::steady_clock;

/// The first message on a connection.
struct Hello {
  std::uint64_t secret = 0;
  std::uint64_t rank = 0;
};

/// The mesh of the process, for the child that a fork makes.
std::atomic<Mesh*>& the_mesh() {
  static std::atomic<Mesh*> mesh{nullptr};
  return mesh;
}

int milliseconds_until(Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

void set(int socket, int level, int name, int value) { (void)setsockopt(socket, level, name, &value, sizeof value); }

/// A host that vanishes says nothing: the kernel asks it, and gives up after Mesh::silence().
void make_watchful(int socket) {
  const auto silence = static_cast<int>(Mesh::silence().count());
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, silence / 2);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, silence / 2);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, silence * 1000);
}

/// A time limit for receive_all(), or none.
void limit_waiting(int socket, std::chrono::milliseconds limit) {
  const timeval value{.tv_sec = limit.count() / 1000, .tv_usec = limit.count() % 1000 * 1000};
  (void)setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &value, sizeof value);
}

void find_interfaces(Address& address) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return;
  std::size_t found = 0;
  for (const ifaddrs* one = all; one != nullptr && found < Address::most; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
    sockaddr_in place{};
    std::memcpy(&place, one->ifa_addr, sizeof place);
    address.ipv4[found++] = place.sin_addr.s_addr;
  }
  freeifaddrs(all);
}

/// Connects to one address. An open socket without a connection is closed.
FileDescriptor connect_to(std::uint32_t ipv4, std::uint32_t port, Clock::time_point until) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {};
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = ipv4;
  place.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) {
    if (errno != EINPROGRESS) return {};
    pollfd ready{.fd = socket.get(), .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, milliseconds_until(until)) != 1) return {};
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return {};
  }
  const int flags = fcntl(socket.get(), F_GETFL);
  (void)fcntl(socket.get(), F_SETFL, flags & ~O_NONBLOCK);
  return socket;
}

}  // namespace

Mesh::Mesh() {
  const node::KernelPlace here = node::KernelPlace::here();
  address_.network = Hash().add(here.boot).add(here.network).value();
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof place;
  if (!socket || bind(socket.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 ||
      ::listen(socket.get(), most_processes) != 0 ||
      getsockname(socket.get(), reinterpret_cast<sockaddr*>(&place), &size) != 0)
    return;
  find_interfaces(address_);
  address_.port = ntohs(place.sin_port);
  listening_ = std::move(socket);
  static std::once_flag once;
  std::call_once(once, [] { (void)pthread_atfork(nullptr, nullptr, close_in_child); });
  the_mesh() = this;
}

Mesh::~Mesh() {
  the_mesh() = nullptr;
  if (thread_.joinable()) {
    take_leave();
    stopping_ = true;
    const std::uint64_t one = 1;
    (void)!write(stop_.get(), &one, sizeof one);
    thread_.join();
  }
}

/// A child that lives on would keep the connections of a process that has ended.
void Mesh::close_in_child() {
  if (Mesh* const mesh = the_mesh()) mesh->close_all();
}

void Mesh::close_all() noexcept {
  listening_.reset();
  for (const auto& peer : peers_) {
    if (peer != nullptr) peer->socket.reset();
  }
}

bool Mesh::connect(int rank, std::span<const Address> all, std::uint64_t secret, std::chrono::milliseconds patience) {
  rank_ = rank;
  secret_ = secret;
  peers_.resize(all.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (static_cast<int>(r) != rank) peers_[r] = std::make_unique<MeshPeer>();
  }
  const auto until = Clock::now() + patience;
  // The kernel of a lower rank takes the call before that rank answers, so that nobody waits in a circle.
  for (int lower = 0; lower < rank; ++lower) {
    if (!call(lower, all[static_cast<std::size_t>(lower)], until)) return false;
  }
  if (!answer(static_cast<int>(all.size()) - rank - 1, until)) return false;
  listening_.reset();
  return true;
}

bool Mesh::call(int rank, const Address& where, Clock::time_point until) {
  if (where.port == 0) return false;
  std::vector<std::uint32_t> places;
  if (where.network == address_.network) places.push_back(htonl(INADDR_LOOPBACK));
  for (const std::uint32_t one : where.ipv4) {
    if (one != 0) places.push_back(one);
  }
  for (const std::uint32_t one : places) {
    FileDescriptor socket = connect_to(one, where.port, std::min(until, Clock::now() + std::chrono::seconds(3)));
    if (!socket) continue;
    make_watchful(socket.get());
    const Hello hello{.secret = secret_, .rank = static_cast<std::uint64_t>(rank_)};
    std::byte welcome{};
    limit_waiting(socket.get(), std::chrono::milliseconds(milliseconds_until(until) + 1));
    // Another process may have the address, and the port: the one that knows the secret answers.
    if (!send_all(socket.get(), std::as_bytes(std::span(&hello, 1)))) continue;
    if (!receive_all(socket.get(), std::span(&welcome, 1))) continue;
    limit_waiting(socket.get(), {});
    peer(rank).socket = std::move(socket);
    return true;
  }
  return false;
}

bool Mesh::answer(int missing, Clock::time_point until) {
  while (missing > 0) {
    pollfd ready{.fd = listening_.get(), .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, milliseconds_until(until)) != 1) return false;
    FileDescriptor socket(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) continue;
    limit_waiting(socket.get(), std::chrono::seconds(2));
    Hello hello;
    if (!receive_all(socket.get(), std::as_writable_bytes(std::span(&hello, 1)))) continue;
    if (hello.secret != secret_ || hello.rank >= peers_.size() || static_cast<int>(hello.rank) <= rank_) continue;
    MeshPeer& other = peer(static_cast<int>(hello.rank));
    const std::byte welcome{1};
    if (other.socket || !send_all(socket.get(), std::span(&welcome, 1))) continue;
    limit_waiting(socket.get(), {});
    make_watchful(socket.get());
    other.socket = std::move(socket);
    --missing;
  }
  return true;
}

void Mesh::watch(Listener listener) {
  listener_ = std::move(listener);
  stop_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  events_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = peers_.size();
  (void)epoll_ctl(events_.get(), EPOLL_CTL_ADD, stop_.get(), &event);
  for (std::size_t r = 0; r < peers_.size(); ++r) {
    if (peers_[r] == nullptr) continue;
    event.data.u64 = r;
    (void)epoll_ctl(events_.get(), EPOLL_CTL_ADD, peers_[r]->socket.get(), &event);
  }
  // Signals are the program's.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { listen(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Mesh::listen() {
  std::array<epoll_event, 64> events{};
  while (!stopping_) {
    const int count = epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), ends_ == 0 ? -1 : 100);
    if (count == 0 && listener_.now_and_then) listener_.now_and_then();
    for (int i = 0; i < count; ++i) {
      const std::uint64_t r = events[static_cast<std::size_t>(i)].data.u64;
      if (r >= peers_.size()) continue;
      MeshPeer& other = *peers_[r];
      const int rank = static_cast<int>(r);
      if (other.read([&](std::span<const std::byte> message) { listener_.heard(rank, message); })) continue;
      (void)epoll_ctl(events_.get(), EPOLL_CTL_DEL, other.socket.get(), nullptr);
      other.ended = true;
      ++ends_;
    }
  }
}

void Mesh::send(int to, std::span<const std::byte> message) { peer(to).send(message); }

void Mesh::take_leave() {
  for (const auto& peer : peers_) {
    if (peer != nullptr && peer->socket) peer->send({});
  }
}

}  // namespace circoll::watch
