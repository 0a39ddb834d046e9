// Peers of a test: forked processes, which report over a socket what they see.
#pragma once

#include <dirent.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "exec/node/direct_copy.hpp"
#include "exec/node/segment.hpp"

namespace circoll::node {

/// One end of what two processes tell each other.
class Wire {
 public:
  explicit Wire(int descriptor) : descriptor_(descriptor) {}
  template <typename T>
  void put(const T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    (void)!send(descriptor_, &value, sizeof value, MSG_NOSIGNAL);
  }
  /// The next value; nothing when the other process has ended, or after a minute.
  template <typename T>
  [[nodiscard]] std::optional<T> get() const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::array<std::byte, sizeof(T)> bytes;
    if (recv(descriptor_, bytes.data(), sizeof(T), MSG_WAITALL) != static_cast<ssize_t>(sizeof(T))) return std::nullopt;
    return __builtin_bit_cast(T, bytes);
  }
  void wait() const { (void)get<char>(); }
  void go_on() const { put('.'); }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// A forked process that runs `body` and ends without destructors. ~Process kills it if it has not ended.
class Process {
 public:
  explicit Process(const std::function<void(const Wire&)>& body) {
    std::array<int, 2> ends{-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
    const timeval minute{.tv_sec = 60, .tv_usec = 0};
    for (const int end : ends) (void)setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute);
    pid_ = fork();
    if (pid_ == 0) {
      (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(ends[0]);
      body(Wire(ends[1]));
      _exit(0);
    }
    close(ends[1]);
    line_ = Wire(ends[0]);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    end();
    close(line_.descriptor());
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const Wire& line() const { return line_; }
  void kill_it() const { (void)kill(pid_, SIGKILL); }
  /// Waits until it has ended, and leaves it to be reaped.
  void wait_for_end() const {
    siginfo_t info{};
    (void)waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void end() {
    if (reaped_) return;
    kill_it();
    (void)waitpid(pid_, nullptr, 0);
    reaped_ = true;
  }

 private:
  pid_t pid_ = 0;
  Wire line_{-1};
  bool reaped_ = false;
};

/// Makes a segment, tells its address, and waits to be told to end.
inline void be_a_peer(const Wire& line) {
  (void)let_peers_copy();
  const Segment segment(1 << 16);
  line.put(segment.address());
  line.wait();
}

/// The findings of a process about another one: whether it can map its segment, and read and write its memory.
struct Findings {
  Reason mapping = Reason::unexpected;
  Reason reading = Reason::unexpected;
  Reason writing = Reason::unexpected;
};

inline std::vector<std::string> entries_of(const std::string& directory) {
  std::vector<std::string> paths;
  DIR* const stream = opendir(directory.c_str());
  if (stream == nullptr) return paths;
  while (const dirent* entry = readdir(stream)) paths.push_back(directory + "/" + entry->d_name);
  closedir(stream);
  return paths;
}
inline std::size_t open_files() { return entries_of("/proc/self/fd").size(); }
/// True if a segment has a name in /dev/shm, where other programs may have files of theirs.
inline bool has_a_name(const Address& address) {
  const std::vector<std::string> paths = entries_of("/dev/shm");
  return std::any_of(paths.begin(), paths.end(), [&address](const std::string& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0 && status.st_dev == address.device && status.st_ino == address.inode;
  });
}
inline std::size_t mapped_segments() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("memfd:circoll") != std::string::npos ? 1 : 0;
  return count;
}

}  // namespace circoll::node
