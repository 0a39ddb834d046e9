#include "command_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "facts/text.hpp"

namespace circoll::cli {
namespace {

constexpr const char* dry_run = "--dry-run";

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

std::vector<std::string> command_words(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const auto end = std::find(words.begin(), words.end(), "--");
  std::replace(words.begin(), end, std::string("-np"), std::string("--np"));
  return words;
}

std::vector<std::string> reversed(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());
  return words;
}

bool take_dry_run(std::vector<std::string>& words) {
  if (words.empty() || words.front() != dry_run) return false;
  words.erase(words.begin());
  return true;
}

std::string mistyped_command(const CLI::App& app, const std::vector<std::string>& words) {
  const std::size_t at = !words.empty() && words.front() == dry_run ? 1 : 0;
  if (words.size() <= at || words[at].starts_with('-')) return {};
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands({})) {
    if (command->get_name() == words[at]) return {};
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  std::sort(names.begin(), names.end());
  return unknown_name(words[at], "command", names);
}

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

}  // namespace circoll::cli
