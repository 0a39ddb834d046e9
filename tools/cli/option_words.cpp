#include "option_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "facts/text.hpp"

namespace circoll::cli {
namespace {

/// Names of C++ types and of checks, which say nothing to people but what is put in their place.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> plain_types{
    {{"TEXT", "TEXT"}, {"INT", "NUMBER"}, {"UINT", "NUMBER"}, {"FLOAT", "NUMBER"}}};
constexpr std::array<std::string_view, 1> silent{"NUMBER"};

/// The parts of a type's name between colons; a set in braces is one part.
std::vector<std::string> parts_of(const std::string& type) {
  std::vector<std::string> parts{""};
  int depth = 0;
  for (const char c : type) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == ':' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool is_word(const std::string& part) {
  return !part.empty() && std::ranges::all_of(part, [](unsigned char c) {
    return std::isupper(c) != 0 || c == '/' || c == '.' || c == '_' || std::islower(c) != 0;
  });
}

/// The commands of most users, in the order of help.
constexpr std::array<const char*, 6> usual_commands{"run", "compare", "doctor", "tune", "explain", "bench"};

/// Help that says what stands for a value by value_word().
class Help : public CLI::Formatter {
 public:
  explicit Help(bool all_commands) : all_commands_(all_commands) {}

  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override {
    if (all_commands_ || app->get_subcommands({}).empty()) return Formatter::make_subcommands(app, mode);
    std::string text = "\nCommands:\n";
    for (const char* const name : usual_commands) text += make_subcommand(app->get_subcommand(name));
    return text;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (is_flag(*option)) return "";
    std::string text = " " + value_word(*option);
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    if (option->get_expected_max() > 1) text += " ...";
    if (option->get_required()) text += " (needed)";
    return text;
  }

 private:
  bool all_commands_;
};

}  // namespace

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

std::vector<std::string> value_choices(const CLI::Option& option) {
  for (const std::string& part : parts_of(option.get_type_name())) {
    if (!part.starts_with('{') || !part.ends_with('}')) continue;
    return split_list(part.substr(1, part.size() - 2));
  }
  return {};
}

std::string value_word(const CLI::Option& option) {
  const std::vector<std::string> choices = value_choices(option);
  const std::vector<std::string> parts = parts_of(option.get_type_name());
  std::string word = parts.front();
  if (!choices.empty()) return word == "TEXT" ? fmt::format("{}", fmt::join(choices, "|")) : word;
  for (const auto& [type, plain] : plain_types) {
    if (word == type) word = plain;
  }
  // Transformations say more than the type of what they make.
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const bool says = is_word(parts[i]) && std::ranges::find(silent, parts[i]) == silent.end();
    if (says && (word == "TEXT" || word == "NUMBER")) word = parts[i];
  }
  return word.empty() ? "TEXT" : word;
}

std::vector<std::string> dashed_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::shared_ptr<CLI::Formatter> help_formatter(bool all_commands) { return std::make_shared<Help>(all_commands); }

}  // namespace circoll::cli
