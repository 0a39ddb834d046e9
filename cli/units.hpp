// Times and sizes for people.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>

#include "circoll/types.hpp"

namespace circoll::cli {

/// "12.3 us": three significant digits.
[[nodiscard]] inline std::string readable_time(double time_s) {
  if (time_s <= 0) return "0 s";
  if (time_s < 0.9995e-6) return fmt::format("{:.3g} ns", time_s * 1e9);
  if (time_s < 0.9995e-3) return fmt::format("{:.3g} us", time_s * 1e6);
  if (time_s < 0.9995) return fmt::format("{:.3g} ms", time_s * 1e3);
  return fmt::format("{:.4g} s", time_s);
}

/// "16 KiB", "1.5 MiB", "100 B": powers of 1024, at most one digit after the point.
[[nodiscard]] inline std::string readable_bytes(Count bytes) {
  constexpr std::array<const char*, 4> units{"B", "KiB", "MiB", "GiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == static_cast<double>(static_cast<Count>(value));
  return whole ? fmt::format("{:.0f} {}", value, units[unit]) : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace circoll::cli
