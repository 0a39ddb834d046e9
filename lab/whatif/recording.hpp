// The file of a recorded program, CIRCOLL_TRACE=FILE.calls.
#pragma once

#include <string>

#include "facts/call_trace.hpp"

namespace circoll::whatif {

/// Reads a recording. Throws Error(invalid_argument) if the file cannot be read, Error(parse) if it is something else.
[[nodiscard]] trace::Trace read_recording(const std::string& path);

}  // namespace circoll::whatif
