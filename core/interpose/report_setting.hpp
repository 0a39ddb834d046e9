// The value of CIRCOLL_REPORT, with the words that people write for 1 and 0.
#pragma once

#include <string>

#include "facts/environment.hpp"

namespace circoll::interpose {

/// "0", "1", or the name of a file.
[[nodiscard]] inline std::string report_setting() {
  std::string value = environment("CIRCOLL_REPORT").value_or("0");
  for (const char* const word : {"yes", "true", "on"}) {
    if (value == word) return "1";
  }
  for (const char* const word : {"no", "false", "off"}) {
    if (value == word) return "0";
  }
  return value;
}

}  // namespace circoll::interpose
