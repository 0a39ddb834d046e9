// The runtimes of devices that are loaded in this process: CUDA, HIP, Level Zero.
//
// The first question, before any call is looked at, is whether calls may have memory of devices at all (Expected).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace circoll::device {

/// A library that gives memory of devices to programs. Its functions are found by name, so that nothing is linked.
/// Thread-safe.
class Runtime {
 public:
  Runtime() = default;
  virtual ~Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Why this process has no memory of the runtime, though it is loaded. The text is the end of a sentence: "has no
  /// device". It is empty if the process may have some, or if the runtime does not say. Never initialises the runtime.
  [[nodiscard]] virtual std::string_view unused() = 0;

  /// True if a processor should not touch the memory at an address, or if the runtime cannot tell. False for memory
  /// that the runtime does not know, and for pinned memory of the host.
  [[nodiscard]] virtual bool claims(const void* address) = 0;
};

// Each takes a handle of dlopen.
[[nodiscard]] std::unique_ptr<Runtime> make_cuda(void* library);
[[nodiscard]] std::unique_ptr<Runtime> make_hip(void* library);
[[nodiscard]] std::unique_ptr<Runtime> make_level_zero(void* library);

/// Kinds of runtimes, a bit for each, the same in all processes.
using RuntimeSet = int;
/// "CUDA and Level Zero".
[[nodiscard]] std::string names_of(RuntimeSet set);

struct LoadedRuntime {
  std::string_view name;
  std::string_view unused;  ///< Runtime::unused()
};

/// Runtimes that were found once stay loaded. Thread-safe.
class Runtimes {
 public:
  Runtimes() = default;
  ~Runtimes();
  Runtimes(const Runtimes&) = delete;
  Runtimes& operator=(const Runtimes&) = delete;

  /// True if a runtime is loaded. If the process has loaded libraries since the last call, this looks among them.
  /// Otherwise it only asks the loader for a counter.
  [[nodiscard]] bool loaded();
  /// The runtimes that are loaded now. Each is asked whether this process may have memory of it.
  [[nodiscard]] std::vector<LoadedRuntime> inspect();
  /// Those of them that say so.
  [[nodiscard]] RuntimeSet usable();
  /// True if a runtime that loaded() has found claims the memory at an address.
  [[nodiscard]] bool claims(const void* address) const;

 private:
  static constexpr std::size_t kinds = 3;

  void look();

  std::array<std::atomic<Runtime*>, kinds> found_{};
  std::atomic<unsigned long long> additions_{0};  ///< libraries that the process had ever loaded when look() began
};

/// Those of this process. Never destroyed, as threads may ask until the end.
[[nodiscard]] Runtimes& runtimes();

/// The values of CIRCOLL_DEVICE_MEMORY.
enum class Expected {
  automatic,  ///< if a runtime is loaded of which this process may have memory
  always,     ///< whether one is or not, as it may be loaded later
  never,      ///< not even then
};
/// Another value gives `automatic`, and a complaint if the caller wants one.
[[nodiscard]] Expected expected_by_user(std::string* complaint = nullptr);

/// The runtimes whose memory calls of this process may have from now on, as far as Circoll can tell. The user's word
/// has a bit of its own. Asks the runtimes, so that callers keep the answer.
[[nodiscard]] RuntimeSet expected_runtimes();

/// Why some rank expects such memory: "a rank has loaded CUDA".
[[nodiscard]] std::string reason_of(RuntimeSet expected);

}  // namespace circoll::device
