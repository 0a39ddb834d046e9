// Options as people read them: what stands for a value, and which values are known.
//
// Help, manual pages and completions say the same of an option, as all ask here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "options/cli11.hpp"

namespace circoll::cli {

/// True if an option takes no value.
[[nodiscard]] bool is_flag(const CLI::Option& option);

/// The word that stands for a value: COLLECTIVE, BYTES, NUMBER, FILE, or "auto|openmpi|mpich" if values are few.
[[nodiscard]] std::string value_word(const CLI::Option& option);

/// The values that an option admits, if it admits no others.
[[nodiscard]] std::vector<std::string> value_choices(const CLI::Option& option);

/// "-c" and "--collective".
[[nodiscard]] std::vector<std::string> dashed_names(const CLI::Option& option);

/// Help with these words, in place of the names of types and checks. The help of circoll itself lists the six commands
/// of most users, or all of them by floor.
[[nodiscard]] std::shared_ptr<CLI::Formatter> help_formatter(bool all_commands = false);

}  // namespace circoll::cli
