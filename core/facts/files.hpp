// Descriptors that are closed with their object, files that several processes write, and the user's directories.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace circoll {

/// Owns an open file, socket or the like.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  /// A negative number is none.
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] explicit operator bool() const { return number_ >= 0; }
  /// Gives the file up, to be closed by the caller, who wants to know of errors then.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  void reset() noexcept {
    if (number_ >= 0) (void)close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

/// Keeps other processes out as long as it lives. The system gives the lock back if this process dies.
class FileLock {
 public:
  /// Waits for half a minute. Throws Error(invalid_argument) if another process has the lock for longer, or if the
  /// file, which is made where there is none, cannot be opened.
  explicit FileLock(std::string path);

 private:
  std::string path_;
  FileDescriptor file_;
};

/// Replaces a file, so that readers see the old text or the new one, and an error leaves the old. Throws
/// Error(invalid_argument) if it cannot be written.
void replace_file(const std::string& path, const std::string& text);

/// True if a file of so many bytes is beyond the limit of this process (ulimit -f). A write beyond it would end the
/// process by SIGXFSZ, in place of an error.
[[nodiscard]] bool exceeds_file_size_limit(std::size_t bytes);

/// The directory of a file; "." for a name without one.
[[nodiscard]] std::string directory_of(const std::string& file);

/// The user's directory that a variable of XDG names, or `below_home` in the home directory. Nothing if there is
/// neither. Variables without an absolute path are ignored, as XDG demands.
[[nodiscard]] std::optional<std::string> user_directory(const char* variable, const std::string& below_home);

}  // namespace circoll
