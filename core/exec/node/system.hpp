// Mappings that end with their object.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "facts/files.hpp"

namespace circoll::node {

/// A shared mapping of a file, for reading and writing, which children do not inherit. Unmapped by the destructor.
class Mapping {
 public:
  Mapping() = default;
  ~Mapping();
  Mapping(Mapping&& other) noexcept
      : memory_(std::exchange(other.memory_, {})), owner_(std::exchange(other.owner_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(owner_, other.owner_);
    return *this;
  }

  /// Maps the file from its beginning; empty if the system refuses, with errno set. `populate` touches the pages now.
  [[nodiscard]] static Mapping of(const FileDescriptor& file, std::size_t bytes, bool populate);
  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }

 private:
  std::span<std::byte> memory_{};
  /// The process that has mapped it. In a child other memory may have come to the addresses, and must stay mapped.
  pid_t owner_ = 0;
};

/// Reads a file of the system as far as the buffer goes; nothing if it cannot be read. Allocates nothing.
[[nodiscard]] std::optional<std::string_view> read_file(const char* path, std::span<char> buffer);
/// The number that a text begins with; nothing if there is no digit, or too many.
[[nodiscard]] std::optional<std::uint64_t> leading_number(std::string_view text);

}  // namespace circoll::node
