#include "interpose/census.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <thread>

#include "interpose/launch.hpp"

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

/// Takes a name among the processes of this user on this node. Returns the descriptor that holds the name, or -1:
/// errno is EADDRINUSE if a process holds it.
int take_node_name(const std::string& name) {
  const Named named(name);
  if (named.descriptor < 0 || bind(named.descriptor, named.get(), named.bytes) == 0) return named.descriptor;
  const int error = errno;
  close(named.descriptor);
  errno = error;
  return -1;
}

/// True if a process of this user on this node holds the name.
bool is_node_name_taken(const std::string& name) {
  const Named named(name);
  if (named.descriptor < 0) return false;
  const bool taken = connect(named.descriptor, named.get(), named.bytes) == 0;
  close(named.descriptor);
  return taken;
}

/// For ranks that come late out of MPI_Init.
constexpr std::chrono::milliseconds time_for_late_ranks{1000};
constexpr std::chrono::milliseconds between_looks{20};

std::atomic<bool> was_announced{false};
/// The descriptor of this rank's mark; -1: there is none.
std::atomic<int> mark{-1};

/// This process on its node, as the launcher's variables and the processes above it say. Asked once: the program may
/// change its variables.
struct LaunchedProcess {
  std::optional<LocalRank> here = launch_local_rank();
  std::string job = here ? launch_name() : "";

  [[nodiscard]] std::string mark_of(int local_rank) const { return "rank " + std::to_string(local_rank) + " " + job; }
  [[nodiscard]] std::vector<int> missing() const {
    std::vector<int> ranks;
    for (int rank = 0; rank < here->size; ++rank) {
      if (!is_node_name_taken(mark_of(rank))) ranks.push_back(rank);
    }
    return ranks;
  }
};

const LaunchedProcess& place() {
  static const auto* const found = new LaunchedProcess;  // for as long as anyone may call
  return *found;
}

}  // namespace

bool first_on_node(const std::string& name) {
  errno = 0;
  return take_node_name(name) >= 0 || errno != EADDRINUSE;  // the descriptor stays open, and with it the name taken
}

void announce() noexcept {
  if (!was_announced.exchange(true)) announce_again();
}

void announce_again() noexcept {
  if (mark >= 0) return;
  was_announced = true;
  try {
    if (place().here) mark = take_node_name(place().mark_of(place().here->rank));
  } catch (...) {
    return;  // the census is unknown then
  }
}

bool announced() { return was_announced; }

Census take_census(int world_size) {
  if (world_size == 1) return {.attendance = Attendance::all};
  const std::optional<LocalRank>& here = place().here;
  if (!here || here->size > world_size) return {};
  Census census{.is_world = here->size == world_size};
  std::vector<int> absent = place().missing();
  if (!announced()) {
    if (absent.size() < static_cast<std::size_t>(here->size)) census.attendance = Attendance::some;
    return census;
  }
  // Without a mark of one's own there is nothing to be learned from those of others.
  if (std::find(absent.begin(), absent.end(), here->rank) != absent.end()) return {};
  const auto end = std::chrono::steady_clock::now() + time_for_late_ranks;
  while (!absent.empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(between_looks);
    absent = place().missing();
  }
  census.attendance = absent.empty() ? Attendance::all : Attendance::some;
  // The lowest rank that is there speaks: all below it are absent.
  const bool speaks =
      std::count_if(absent.begin(), absent.end(), [&](int rank) { return rank < here->rank; }) == here->rank;
  if (speaks) census.absent = std::move(absent);
  return census;
}

void forget_mark() noexcept {
  if (const int held = mark.exchange(-1); held >= 0) close(held);
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::size_t first = i;
    while (i + 1 < ranks.size() && ranks[i + 1] == ranks[i] + 1) ++i;
    if (first > 0) text += ", ";
    text += std::to_string(ranks[first]);
    if (i > first) text += (i > first + 1 ? "-" : ", ") + std::to_string(ranks[i]);
  }
  return text;
}

}  // namespace circoll::interpose
