// The subcommands of circoll: one file each, command_<name>.cpp.
//
// A command adds itself to the application: options, a callback that does the work, a footer with examples.
// Misuse is left to CLI11's checks and to circoll::Error; main() turns both into messages and exit codes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "options/cli11.hpp"

namespace circoll::cli {

// Exit codes of the process.
inline constexpr int exit_ok = 0;
inline constexpr int exit_failure = 1;  ///< the work was done and its outcome is bad, or it could not be finished
inline constexpr int exit_misuse = 2;   ///< an option, a name or a value is wrong

/// Shared by all commands of one run.
struct Context {
  int exit_code = exit_ok;  ///< set by callbacks whose outcome is bad
};

/// Adds one command to the application.
using AddCommand = void (*)(CLI::App& app, Context& context);

/// Declares everything: the table from which help, manual pages and completions come.
void add_commands(CLI::App& app, Context& context);

/// The present name of a command that was renamed; empty for all other words.
[[nodiscard]] std::string_view renamed_command(std::string_view name);

/// Flags of circoll itself: help lists all commands, not only those of most users.
inline constexpr std::string_view help_of_all_flags = "--help-all,--all";

void add_bits_compare(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);
void add_cost(CLI::App& app, Context& context);
void add_calibrate(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_execute(CLI::App& app, Context& context);
void add_explain(CLI::App& app, Context& context);
void add_explore(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_guidelines(CLI::App& app, Context& context);
void add_hang(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_list(CLI::App& app, Context& context);
void add_lint(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_man(CLI::App& app, Context& context);
void add_merge(CLI::App& app, Context& context);
void add_plot(CLI::App& app, Context& context);
void add_show(CLI::App& app, Context& context);
void add_traffic(CLI::App& app, Context& context);
void add_tune(CLI::App& app, Context& context);
void add_verify(CLI::App& app, Context& context);

/// Throws Error(invalid_argument).
[[noreturn]] void misuse(const std::string& what);

/// Throws Error(invalid_argument) unless the root is a rank of p, and 0 where a collective has none.
void check_root(Rank root, Rank p, Collective collective);

/// Writes to standard output; throws std::runtime_error if that fails (a full disk, a closed pipe).
void print(const std::string& text);

/// Writes a file anew; throws std::runtime_error if that fails.
void write_file(const std::string& path, const std::string& text);

/// "collective/name:param=value,param=value", as the commands print selections.
[[nodiscard]] std::string with_params(const Selection& selection);

/// The answer to a shell has a line for each word that may stand at the cursor. A tab and what the word is may follow
/// it. The line ":files" says that names of files may stand there. `words` are those behind the program's name up to
/// the cursor, of which the last one may be begun or empty.
[[nodiscard]] std::string candidates(const CLI::App& app, const std::vector<std::string>& words);

// Transformations of what the command line says (core/text.hpp), to be checked further as usual: names of collectives,
// types and operators become those of to_string, and numbers such as 64Ki or 1e6 become digits.
[[nodiscard]] CLI::Validator collective_name();
[[nodiscard]] CLI::Validator type_name();
[[nodiscard]] CLI::Validator op_name();
[[nodiscard]] CLI::Validator whole_number();
[[nodiscard]] CLI::Validator number_of_bytes();

}  // namespace circoll::cli
