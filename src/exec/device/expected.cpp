#include "exec/device/expected.hpp"

#include "core/environment.hpp"
#include "exec/device/runtimes.hpp"

namespace circoll::device {

Expected expected_by_user(std::string* complaint) {
  const std::string value = environment("CIRCOLL_DEVICE_MEMORY").value_or("auto");
  if (value == "on") return Expected::always;
  if (value == "off") return Expected::never;
  if (value != "auto" && complaint != nullptr) *complaint = "'" + value + "' is none of auto, on, off; it is auto";
  return Expected::automatic;
}

bool is_expected() {
  const Expected expected = expected_by_user();
  return expected == Expected::always || (expected == Expected::automatic && runtimes().loaded());
}

}  // namespace circoll::device
