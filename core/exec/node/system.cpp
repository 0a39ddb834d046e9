#include "exec/node/system.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace circoll::node {

Mapping::~Mapping() {
  if (!memory_.empty() && owner_ == getpid()) munmap(memory_.data(), memory_.size());
}

Mapping Mapping::of(const FileDescriptor& file, std::size_t bytes, bool populate) {
  Mapping mapping;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (populate ? MAP_POPULATE : 0), file.get(), 0);
  if (memory == MAP_FAILED) return mapping;
  mapping.memory_ = {static_cast<std::byte*>(memory), bytes};
  mapping.owner_ = getpid();
  if (madvise(memory, bytes, MADV_DONTFORK) != 0) return {};
  return mapping;
}

std::optional<std::string_view> read_file(const char* path, std::span<char> buffer) {
  const FileDescriptor file(open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t got = read(file.get(), buffer.data() + filled, buffer.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return std::string_view(buffer.data(), filled);
}

std::optional<std::uint64_t> leading_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc{}) return std::nullopt;
  return number;
}

}  // namespace circoll::node
