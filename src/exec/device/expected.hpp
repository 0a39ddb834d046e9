// The question whether calls may have memory of devices at all, before any call is looked at.
#pragma once

#include <string>

namespace circoll::device {

/// The values of CIRCOLL_DEVICE_MEMORY.
enum class Expected {
  automatic,  ///< if a runtime is loaded
  always,     ///< whether one is or not, as it may be loaded later
  never,      ///< not even then
};
/// A value that is none of them is `automatic`, with a complaint where one is wanted.
[[nodiscard]] Expected expected_by_user(std::string* complaint = nullptr);

/// True if calls of this process may have such memory from now on, as far as can be told.
[[nodiscard]] bool is_expected();

}  // namespace circoll::device
