// The property that both readers are fuzzed for.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "circoll/error.hpp"
#include "circoll/schedule.hpp"

namespace circoll::fuzz {

inline void round_trip(std::string_view input, Schedule (*read)(std::string_view),
                       std::string (*write)(const Schedule&)) {
  Schedule schedule;
  try {
    schedule = read(input);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::parse && error.code() != ErrorCode::invalid_argument) std::abort();
    return;
  }
  // A schedule that was read is sound and normalised, and can be written. Errors here are not caught, and so end the
  // run.
  check_structure(schedule);
  if (!(read(write(schedule)) == schedule)) std::abort();
}

}  // namespace circoll::fuzz
