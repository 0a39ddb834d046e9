// The runtimes of devices that are loaded in this process: CUDA, HIP, Level Zero.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "exec/device/runtime.hpp"

namespace circoll::device {

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

  /// True if a runtime is loaded. If the process has loaded libraries since this was asked last, looks among them;
  /// else asks the loader for a number.
  [[nodiscard]] bool loaded();
  /// Those that are loaded now, each of which is asked whether this process may have memory of it.
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

}  // namespace circoll::device
