#include "facts/stored_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "circoll/error.hpp"

namespace circoll {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds patience{30};

[[noreturn]] void fail(const std::string& what, const std::string& path, int error) {
  throw Error(ErrorCode::invalid_argument, what + " '" + path + "' cannot be written: " + std::strerror(error));
}

/// A descriptor that is closed in the end.
class File {
 public:
  File(const std::string& path, int flags) : descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool good() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

void write_all(const File& file, const std::string& text, const std::string& path) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = write(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("the file", path, n < 0 ? errno : ENOSPC);
    done += static_cast<std::size_t>(n);
  }
  if (fsync(file.get()) != 0) fail("the file", path, errno);
}

}  // namespace

FileLock::FileLock(std::string path)
    : path_(std::move(path)), descriptor_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) fail("the lock file", path_, errno);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const bool waits = error == EWOULDBLOCK || error == EINTR;
    if (waits && std::chrono::steady_clock::now() <= end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    close(descriptor_);
    if (!waits) fail("the lock file", path_, error);
    throw Error(ErrorCode::invalid_argument,
                "another process has held '" + path_ + "' for " + std::to_string(patience.count()) + " seconds");
  }
}

FileLock::~FileLock() { close(descriptor_); }

void replace_file(const std::string& path, const std::string& text) {
  const fs::path target(path);
  const std::string temporary =
      (target.parent_path() / ("." + target.filename().string() + "." + std::to_string(getpid()) + ".new")).string();
  try {
    {
      const File file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
      if (!file.good()) fail("the file", temporary, errno);
      write_all(file, text, temporary);
    }
    if (std::rename(temporary.c_str(), path.c_str()) != 0) fail("the file", path, errno);
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
  const File directory(directory_of(path), O_RDONLY | O_DIRECTORY);
  if (directory.good()) fsync(directory.get());  // some file systems cannot, and need not
}

std::string directory_of(const std::string& file) {
  const std::string directory = fs::path(file).parent_path().string();
  return directory.empty() ? "." : directory;
}

}  // namespace circoll
