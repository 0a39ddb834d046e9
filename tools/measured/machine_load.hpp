// The share of the processors that other processes take while a program runs.
#pragma once

#include <optional>
#include <string>

namespace circoll::measured {

/// Shares of the processors' time.
struct Load {
  double others = 0;                 ///< of all processors: taken by processes that are not ours
  std::optional<double> pressure{};  ///< of the time: some process waited for a processor; nothing on older kernels
};

/// Numbers of the kernel, all counted since some moment of the past.
struct Processors {
  double total_s = 0, busy_s = 0;  ///< of all processors together
  double own_s = 0;                ///< of this process and the processes that it has waited for
  double at_s = 0;                 ///< the clock
  std::optional<double> pressure_s{};
};

/// From the texts of /proc/stat, whose numbers are so many in a second, and /proc/pressure/cpu, which may be empty.
/// Time in which the hypervisor ran others is busy. Nothing if it is no such text.
[[nodiscard]] std::optional<Processors> processors_from(const std::string& stat, const std::string& pressure,
                                                        double in_a_second);
[[nodiscard]] Load load_between(const Processors& before, const Processors& after);

/// Reads these numbers now, and again at the end of a program that this process has started and waited for.
class LoadMeter {
 public:
  LoadMeter();
  /// Nothing if the kernel has no such numbers.
  [[nodiscard]] std::optional<Load> load() const;

 private:
  std::optional<Processors> before_;
};

}  // namespace circoll::measured
