#include "linked_mpi.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace circoll::cli {
namespace {

/// What `ldd path` prints. Without a shell, and without what is preloaded into us.
std::string ldd(const std::string& path) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = "ldd", argument = path;
  std::array<char*, 3> argv{program.data(), argument.data(), nullptr};
  std::string search = "PATH=/usr/local/bin:/usr/bin:/bin", libraries = "LD_LIBRARY_PATH=";
  if (const char* value = std::getenv("LD_LIBRARY_PATH")) libraries += value;
  std::array<char*, 3> environment{search.data(), libraries.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program.c_str(), &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  if (failed == 0) {
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(n));
    }
    waitpid(child, nullptr, 0);
  }
  close(ends[0]);
  return text;
}

}  // namespace

std::optional<std::string> linked_mpi(const std::string& path) {
  const std::string libraries = ldd(path);
  if (libraries.find("libmpich.so") != std::string::npos) return "mpich";
  if (libraries.find("libmpi.so.40") != std::string::npos) return "openmpi";
  if (libraries.find("libmpi.so.12") != std::string::npos) return "mpich";  // MPICH's ABI name
  if (libraries.find("libmpi.so") != std::string::npos) return "openmpi";
  return std::nullopt;
}

}  // namespace circoll::cli
