// The question whether calls may have memory of devices at all, before any call is looked at.
#pragma once

#include <string>

#include "exec/device/runtimes.hpp"

namespace circoll::device {

/// The values of CIRCOLL_DEVICE_MEMORY.
enum class Expected {
  automatic,  ///< if a runtime is loaded of which this process may have memory
  always,     ///< whether one is or not, as it may be loaded later
  never,      ///< not even then
};
/// A value that is none of them is `automatic`, with a complaint where one is wanted.
[[nodiscard]] Expected expected_by_user(std::string* complaint = nullptr);

/// The runtimes whose memory calls of this process may have from now on, as far as can be told. The user's word has a
/// bit of its own. Asks the runtimes, so that callers keep the answer.
[[nodiscard]] RuntimeSet expected_runtimes();

/// Why some rank expects such memory: "a rank has loaded CUDA".
[[nodiscard]] std::string reason_of(RuntimeSet expected);

}  // namespace circoll::device
