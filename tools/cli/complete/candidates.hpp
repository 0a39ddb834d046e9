// Words with which a command line may go on, for the completions of shells.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace circoll::cli {

/// The answer to a shell has a line for each word that may stand at the cursor. A tab and what the word is may follow
/// it. The line ":files" says that names of files may stand there. `words` are those behind the program's name up to
/// the cursor, of which the last one may be begun or empty.
[[nodiscard]] std::string candidates(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace circoll::cli
