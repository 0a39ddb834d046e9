#include "exec/device/expected.hpp"

#include "facts/environment.hpp"

namespace circoll::device {
namespace {

/// CIRCOLL_DEVICE_MEMORY=on, in a RuntimeSet; above the bits of all kinds.
constexpr RuntimeSet by_user = 1 << 16;

}  // namespace

Expected expected_by_user(std::string* complaint) {
  const std::string value = environment("CIRCOLL_DEVICE_MEMORY").value_or("auto");
  if (value == "on") return Expected::always;
  if (value == "off") return Expected::never;
  if (value != "auto" && complaint != nullptr) *complaint = "'" + value + "' is none of auto, on, off; it is auto";
  return Expected::automatic;
}

RuntimeSet expected_runtimes() {
  switch (expected_by_user()) {
    case Expected::always:
      return by_user;
    case Expected::never:
      return 0;
    case Expected::automatic:
      break;
  }
  return runtimes().usable();
}

std::string reason_of(RuntimeSet expected) {
  return (expected & by_user) != 0 ? "CIRCOLL_DEVICE_MEMORY is on" : "a rank has loaded " + names_of(expected);
}

}  // namespace circoll::device
