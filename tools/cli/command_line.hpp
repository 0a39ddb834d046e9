// The command line before CLI11 reads it, and what is said about words that it does not know.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace circoll::cli {

/// The words behind the program's name. "-np" becomes --np, as launchers have it, up to a "--".
[[nodiscard]] std::vector<std::string> command_words(int argc, const char* const* argv);

/// The words as CLI::App::parse wants them.
[[nodiscard]] std::vector<std::string> reversed(std::vector<std::string> words);

/// Takes a leading --dry-run away, with which command lines are read and nothing is done. False if there is none.
[[nodiscard]] bool take_dry_run(std::vector<std::string>& words);

/// The complaint about a name that is no command, with the closest ones; empty if it is one.
[[nodiscard]] std::string mistyped_command(const CLI::App& app, const std::vector<std::string>& words);

/// The complaint about the first argument that the parsed command did not expect.
[[nodiscard]] std::string mistyped_argument(const CLI::App& app);

}  // namespace circoll::cli
