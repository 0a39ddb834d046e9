// The three ways in which a program calls a collective.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace circoll {

enum class CallMode : std::uint8_t { blocking, nonblocking, persistent };

/// "blocking", "nonblocking", "persistent".
[[nodiscard]] constexpr std::string_view to_string(CallMode mode) {
  constexpr std::array<std::string_view, 3> names{"blocking", "nonblocking", "persistent"};
  return names.at(static_cast<std::size_t>(mode));
}

}  // namespace circoll
