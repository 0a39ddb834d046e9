// JSON as files of measurements have it: an entry is a line.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace circoll {

/// JSON without line breaks. Bytes that are no UTF-8 are replaced.
[[nodiscard]] inline std::string one_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace circoll
