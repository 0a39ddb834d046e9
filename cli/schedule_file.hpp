// Files of schedules (docs/schedule-format.md), which several commands take in place of an id.
#pragma once

#include <string>
#include <vector>

#include "circoll/schedule.hpp"

namespace circoll::cli {

/// True if a word names a file that exists.
[[nodiscard]] bool names_file(const std::string& word);

/// The schedules of all ranks in a file of either form.
///
/// Throws Error: parse, naming the file and the line; invalid_argument unless they are of ranks 0 .. p-1 of one call,
/// with the caller's buffers as MPI defines them.
[[nodiscard]] std::vector<Schedule> read_schedules(const std::string& path);

}  // namespace circoll::cli
