#include "linked_mpi.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace circoll::cli {
namespace {

/// The output of `ldd path`. Without a shell, and without libraries that are preloaded into us.
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

/// True if a library file defines or uses a symbol; its tables of names are plain text between zeros.
bool names_symbol(const std::string& file, std::string_view symbol) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::string name(1, '\0');
  name.append(symbol).append(1, '\0');
  return bytes.find(name) != std::string::npos;
}

/// The MPI of a library by its name, or by its file where the name leaves it open. It is nullptr if it is of none.
const MpiLibrary* mpi_of(std::string_view name, const std::string& file) {
  name.remove_prefix(name.rfind('/') + 1);
  if (is_abi_library(name)) return &abi_library;
  if (name.starts_with("libmpich")) return &mpich_library;
  if (name == "libmpi.so.40") return &openmpi_library;
  if (!name.starts_with("libmpi")) return nullptr;  // libmpi.so.12, libmpi_gnu.so.12, libmpi_cxx.so.40
  for (const MpiLibrary* const library : mpi_implementations) {
    if (names_symbol(file, library->symbol)) return library;
  }
  return nullptr;
}

}  // namespace

const MpiLibrary* linked_mpi(const std::string& path) {
  // Lines are "NAME => FILE (ADDRESS)", or "FILE (ADDRESS)" for a name that is a path.
  std::istringstream lines(ldd(path));
  const MpiLibrary* found = nullptr;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, arrow, file;
    words >> name >> arrow >> file;
    const MpiLibrary* const library = mpi_of(name, arrow == "=>" ? file : name);
    if (library == &abi_library) return library;  // what else is there is behind it
    if (found == nullptr) found = library;
  }
  return found;
}

}  // namespace circoll::cli
