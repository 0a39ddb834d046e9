// circoll: look at, prove, price and run collective algorithms without MPI.
//
// The command line before CLI11 reads it, what is said about words that it does not know, and exit codes.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "commands.hpp"
#include "facts/text.hpp"
#include "option_words.hpp"

namespace circoll::cli {

void misuse(const std::string& what) { throw Error(ErrorCode::invalid_argument, what); }

void check_root(Rank root, Rank p, Collective collective) {
  if (root >= p) misuse(fmt::format("--root lies in 0 .. {} for -p {}", p - 1, p));
  if (root != 0 && !is_rooted(collective)) misuse(fmt::format("{} has no root", to_string(collective)));
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw std::runtime_error("standard output cannot be written");
  }
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("'{}' cannot be written", path));
}

std::string with_params(const Selection& selection) {
  return fmt::format("{}/{}", to_string(selection.collective), selection.text());
}

CLI::Validator collective_name() { return {rewrite_collective, "COLLECTIVE"}; }
CLI::Validator type_name() { return {rewrite_type, "TYPE"}; }
CLI::Validator op_name() { return {rewrite_op, "OP"}; }
CLI::Validator whole_number() { return {rewrite_number, "NUMBER"}; }
CLI::Validator number_of_bytes() { return {rewrite_bytes, "BYTES"}; }

namespace {

constexpr const char* dry_run = "--dry-run";

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The words behind the program's name. "-np" becomes --np, as launchers have it, up to a "--".
std::vector<std::string> command_words(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const auto end = std::ranges::find(words, "--");
  std::replace(words.begin(), end, std::string("-np"), std::string("--np"));
  return words;
}

/// The words as CLI::App::parse wants them.
std::vector<std::string> reversed(std::vector<std::string> words) {
  std::ranges::reverse(words);
  return words;
}

/// Takes a leading --dry-run away, with which command lines are read and nothing is done. False if there is none.
bool take_dry_run(std::vector<std::string>& words) {
  if (words.empty() || words.front() != dry_run) return false;
  words.erase(words.begin());
  return true;
}

/// Puts the present name in the place of a former one, with a warning.
void rename_command(std::vector<std::string>& words) {
  const std::size_t at = !words.empty() && words.front() == dry_run ? 1 : 0;
  if (words.size() <= at) return;
  const std::string_view now = renamed_command(words[at]);
  if (now.empty()) return;
  fmt::print(stderr, "circoll: '{}' is called '{}' now\n", words[at], now);
  words[at] = now;
}

/// True if the flags before a command ask for help with all commands: --help --all, --help-all.
bool asks_for_all(const std::vector<std::string>& words) {
  const auto end =
      std::find_if(words.begin(), words.end(), [](const std::string& word) { return !word.starts_with('-'); });
  const std::vector<std::string> flags = split_list(help_of_all_flags);
  return std::any_of(words.begin(), end, [&](const std::string& word) {
    return std::find(flags.begin(), flags.end(), word) != flags.end();
  });
}

/// The complaint about a name that is no command, with the closest ones; empty if it is one.
std::string mistyped_command(const CLI::App& app, const std::vector<std::string>& words) {
  const std::size_t at = !words.empty() && words.front() == dry_run ? 1 : 0;
  if (words.size() <= at || words[at].starts_with('-')) return {};
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands({})) {
    if (command->get_name() == words[at]) return {};
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  std::ranges::sort(names);
  return unknown_name(words[at], "command", names);
}

/// The complaint about the first argument that the parsed command did not expect.
std::string mistyped_argument(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const CLI::App& command = parsed.empty() ? app : *parsed.front();
  std::vector<std::string> extras = command.remaining();
  if (extras.empty()) extras = app.remaining();
  const std::string word = extras.empty() ? std::string() : extras.front();
  const std::string where = parsed.empty() ? "circoll" : "circoll " + command.get_name();
  if (!word.starts_with('-')) return fmt::format("'{}' is one argument too many for {}", word, where);
  const std::string name = word.substr(0, word.find('='));
  return fmt::format("{}; 'circoll {} --help' says more",
                     unknown_name(name, "option of " + where, option_names(command)),
                     parsed.empty() ? "" : command.get_name());
}

/// True for errors that another command line would avoid.
bool is_misuse(ErrorCode code) {
  return code == ErrorCode::invalid_argument || code == ErrorCode::unknown_name || code == ErrorCode::unsupported ||
         code == ErrorCode::parse;
}

int run(int argc, char** argv) {
  Context context;
  CLI::App app;
  add_commands(app, context);
  std::vector<std::string> words = command_words(argc, argv);
  if (!words.empty() && words.front() == "__complete") {
    print(candidates(app, {words.begin() + 1, words.end()}));
    return exit_ok;
  }
  if (asks_for_all(words)) {
    app.formatter(help_formatter(true));
    print(app.help());
    return exit_ok;
  }
  rename_command(words);
  if (const std::string wrong = mistyped_command(app, words); !wrong.empty()) {
    fmt::print(stderr, "circoll: {}\n", wrong);
    return exit_misuse;
  }
  // It comes before the callbacks of commands, which do the work.
  if (take_dry_run(words)) app.parse_complete_callback([] { throw CLI::Success(); });
  try {
    app.parse(reversed(words));
  } catch (const CLI::ExtrasError&) {
    fmt::print(stderr, "circoll: {}\n", mistyped_argument(app));
    return exit_misuse;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_ok : exit_misuse;  // app.exit() prints help or the error
  } catch (const Error& error) {
    fmt::print(stderr, "circoll: {}\n", error.what());
    return is_misuse(error.code()) ? exit_misuse : exit_failure;
  }
  return context.exit_code;
}

}  // namespace
}  // namespace circoll::cli

int main(int argc, char** argv) {
  try {
    return circoll::cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "circoll: %s\n", error.what());
    return circoll::cli::exit_failure;
  }
}
