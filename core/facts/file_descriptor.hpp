// A file descriptor that is closed with its object.
#pragma once

#include <unistd.h>

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
  void reset() noexcept {
    if (number_ >= 0) (void)close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

}  // namespace circoll
