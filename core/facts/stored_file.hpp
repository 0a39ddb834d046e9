// Files that several processes write, each as a whole.
#pragma once

#include <string>

namespace circoll {

/// Keeps other processes out as long as it lives. The system gives the lock back if this process dies.
class FileLock {
 public:
  /// Waits for half a minute. Throws Error(invalid_argument) if another process has the lock for longer, or if the
  /// file, which is made where there is none, cannot be opened.
  explicit FileLock(std::string path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::string path_;
  int descriptor_;
};

/// Replaces a file, so that readers see the old text or the new one, and an error leaves the old. Throws
/// Error(invalid_argument) if it cannot be written.
void replace_file(const std::string& path, const std::string& text);

/// The directory of a file; "." for a name without one.
[[nodiscard]] std::string directory_of(const std::string& file);

}  // namespace circoll
