// The file of a profile: written as a whole, by one process at a time.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include "circoll/error.hpp"
#include "measured/profile_writer.hpp"
#include "select/text_file.hpp"

namespace circoll::measured {
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

/// Keeps other processes from the profiles of a directory. The system gives the lock back if this process dies.
class Lock {
 public:
  explicit Lock(const std::string& directory) : path_(directory + "/.lock"), file_(path_, O_RDWR | O_CREAT) {
    if (!file_.good()) fail("the lock file", path_, errno);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) fail("the lock file", path_, errno);
      if (std::chrono::steady_clock::now() > end) {
        throw Error(ErrorCode::invalid_argument,
                    "another process has held '" + path_ + "' for " + std::to_string(patience.count()) + " seconds");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

 private:
  std::string path_;
  File file_;
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

/// Replaces a file, so that readers see the old text or the new one.
void replace(const std::string& path, const std::string& text) {
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
  const File directory(target.parent_path().string(), O_RDONLY | O_DIRECTORY);
  if (directory.good()) fsync(directory.get());  // some file systems cannot, and need not
}

std::string directory_of(const std::string& file) {
  const std::string directory = fs::path(file).parent_path().string();
  return directory.empty() ? "." : directory;
}

/// The text of the file, if it is a profile. What is there and is none is moved away.
std::string text_before(const std::string& file, StoredProfile& stored) {
  std::error_code error;
  if (!fs::exists(file, error)) return "";
  try {
    std::string text = select::read_text_file(file);
    (void)select::make_profile_policy(text, file, {});
    return text;
  } catch (const Error&) {
    stored.damaged = file + ".damaged";
    if (std::rename(file.c_str(), stored.damaged.c_str()) != 0) fail("the file", stored.damaged, errno);
  }
  return "";
}

}  // namespace

void require_writable(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    throw Error(ErrorCode::invalid_argument, "the directory '" + directory + "' cannot be made: " + error.message());
  }
  const std::string probe = directory + "/." + std::to_string(getpid()) + ".probe";
  const File file(probe, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.good()) fail("the directory", directory, errno);
  unlink(probe.c_str());
}

StoredProfile store_profile(const std::string& file, const ProfilePart& part) {
  StoredProfile stored{.file = file, .damaged = {}};
  require_writable(directory_of(file));
  const Lock lock(directory_of(file));
  replace(file, merged_profile(text_before(file, stored), part));
  return stored;
}

}  // namespace circoll::measured
