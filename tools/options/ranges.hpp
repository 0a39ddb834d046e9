// Checks of numbers on command lines. With the option's name their messages are sentences: "--segments is at least 1".
//
// Values have been transformed to digits before (facts/text.hpp), or are written as C++ reads them.
#pragma once

#include <cstdint>
#include <string>

#include "options/cli11.hpp"

namespace circoll::options {

[[nodiscard]] CLI::Validator at_least(std::int64_t least);
/// Both ends are allowed.
[[nodiscard]] CLI::Validator between(std::int64_t least, std::int64_t most);
/// For times and shares: above 0.
[[nodiscard]] CLI::Validator above_zero();
/// For shares: above 0 and below 1.
[[nodiscard]] CLI::Validator inside_zero_one();

/// The message of a command line that cannot be read, for CLI::App::failure_message(). CLI11 puts a colon between the
/// option and its error, which is left out here.
[[nodiscard]] std::string failure_message(const CLI::App* app, const CLI::Error& error);

}  // namespace circoll::options
