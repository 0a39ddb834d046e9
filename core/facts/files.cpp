#include "facts/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "circoll/error.hpp"

namespace circoll {
namespace {

constexpr std::chrono::seconds patience_with_lock{30};

[[noreturn]] void fail_writing(const std::string& what, const std::string& path, int error) {
  throw Error(ErrorCode::invalid_argument, what + " '" + path + "' cannot be written: " + std::strerror(error));
}

void write_all(const FileDescriptor& file, const std::string& text, const std::string& path) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = write(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail_writing("the file", path, n < 0 ? errno : ENOSPC);
    done += static_cast<std::size_t>(n);
  }
  if (fsync(file.get()) != 0) fail_writing("the file", path, errno);
}

}  // namespace

FileLock::FileLock(std::string path)
    : path_(std::move(path)), file_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (!file_) fail_writing("the lock file", path_, errno);
  const auto end = std::chrono::steady_clock::now() + patience_with_lock;
  while (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const bool waits = error == EWOULDBLOCK || error == EINTR;
    if (waits && std::chrono::steady_clock::now() <= end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    if (!waits) fail_writing("the lock file", path_, error);
    throw Error(ErrorCode::invalid_argument, "another process has held '" + path_ + "' for " +
                                                 std::to_string(patience_with_lock.count()) + " seconds");
  }
}

void replace_file(const std::string& path, const std::string& text) {
  const std::filesystem::path target(path);
  const std::string temporary =
      (target.parent_path() / ("." + target.filename().string() + "." + std::to_string(getpid()) + "-" +
                               std::to_string(std::random_device{}()) + ".new"))
          .string();  // processes of two hosts may have one number
  try {
    {
      const FileDescriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
      if (!file) fail_writing("the file", temporary, errno);
      write_all(file, text, temporary);
    }
    if (std::rename(temporary.c_str(), path.c_str()) != 0) fail_writing("the file", path, errno);
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
  const FileDescriptor directory(open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) fsync(directory.get());  // some file systems cannot, and need not
}

bool exceeds_file_size_limit(std::size_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes;
}

std::string directory_of(const std::string& file) {
  const std::string directory = std::filesystem::path(file).parent_path().string();
  return directory.empty() ? "." : directory;
}

std::optional<std::string> user_directory(const char* variable, const std::string& below_home) {
  if (const char* const named = std::getenv(variable); named != nullptr && *named == '/') return named;
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::string(home) + "/" + below_home;
  }
  return std::nullopt;
}

}  // namespace circoll
