// The kind of a file that Circoll writes in JSON, by a key of its first level.
#pragma once

#include <string_view>

namespace circoll {

/// "report" for the key "circoll_report"; empty for keys that name no kind.
[[nodiscard]] constexpr std::string_view kind_of_key(std::string_view key) {
  constexpr std::string_view prefix = "circoll_";
  return key.starts_with(prefix) ? key.substr(prefix.size()) : std::string_view{};
}

}  // namespace circoll
