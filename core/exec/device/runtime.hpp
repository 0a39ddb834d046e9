// A runtime of devices that is loaded in this process, and its answer about an address.
#pragma once

#include <memory>
#include <string_view>

namespace circoll::device {

/// A library that gives memory of devices to programs. Its functions are found by name, so that nothing is linked.
/// Thread-safe.
class Runtime {
 public:
  Runtime() = default;
  virtual ~Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Why this process has no memory of the runtime, though it is loaded. The end of a sentence: "has no device".
  /// Empty: it may have some, or the runtime does not say. Never initialises the runtime.
  [[nodiscard]] virtual std::string_view unused() = 0;

  /// True if a processor should not touch the memory at an address, or if the runtime cannot tell. False for memory
  /// that the runtime does not know, and for pinned memory of the host.
  [[nodiscard]] virtual bool claims(const void* address) = 0;
};

// Each takes a handle of dlopen.
[[nodiscard]] std::unique_ptr<Runtime> make_cuda(void* library);
[[nodiscard]] std::unique_ptr<Runtime> make_hip(void* library);
[[nodiscard]] std::unique_ptr<Runtime> make_level_zero(void* library);

}  // namespace circoll::device
