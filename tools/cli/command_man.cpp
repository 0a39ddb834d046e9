// circoll man writes manual pages in mdoc from the table of commands.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string_view>

#include "circoll/circoll.h"
#include "circoll/error.hpp"
#include "commands.hpp"
#include "facts/environment.hpp"
#include "option_words.hpp"

namespace circoll::cli {
namespace {

/// The date of the pages: when their form was changed last.
constexpr std::string_view manual_date = "November 26, 2026";

/// Text as mdoc takes it. A backslash has a meaning, and so has a point or a quote that begins a line.
std::string escaped(std::string_view text) {
  std::string result;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) result += "\\&";
    result += c == '\\' ? "\\e" : std::string(1, c);
    begins = c == '\n';
  }
  return result;
}

/// A word that is an argument of a macro, and is no macro itself.
std::string argument(std::string_view word) {
  std::string text = escaped(word);
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 4) text.replace(at, 1, "\\(dq");
  return "\\&" + text;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// With a point at its end; a first word may be a value, which stays as it is.
std::string sentence(const std::string& text) { return text.ends_with('.') ? text : text + "."; }

/// Prose, each sentence of which begins a line, as mdoc has it.
std::string prose(const std::string& text) {
  std::string lines;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ended = i > 0 && text[i] == ' ' && (text[i - 1] == '.' || text[i - 1] == '?');
    lines += ended ? '\n' : text[i];
  }
  return escaped(lines);
}

std::string manual_heading(const std::string& name, const std::string& description) {
  std::string what = description.substr(description.find(": ") == 7 ? 9 : 0);
  return fmt::format(".Dd {}\n.Dt {} 1\n.Os Circoll {}\n.Sh NAME\n.Nm {}\n.Nd {}\n", manual_date, upper(name),
                     circoll_version(), name, escaped(what));
}

std::string mdoc_value(const CLI::Option& option) {
  return is_flag(option) ? "" : " Ar " + argument(value_word(option));
}

/// "Fl c , Fl -collective Ar COLLECTIVE", as mdoc writes options; of a word without a dash its name.
std::string item_of(const CLI::Option& option) {
  if (option.get_positional()) return "Ar " + argument(option.get_name(true));
  std::string text;
  for (const std::string& name : dashed_names(option)) {
    text += fmt::format("{}Fl {}", text.empty() ? "" : " , ", argument(name.substr(1)));
  }
  return text + mdoc_value(option);
}

bool is_help(const CLI::Option& option) { return option.check_lname("help"); }

std::string synopsis(const CLI::App& command, const std::string& called) {
  std::string text = fmt::format(".Sh SYNOPSIS\n.Nm {}\n", called);
  for (const CLI::Option* const option : command.get_options()) {
    if (option->get_positional() || is_help(*option)) continue;
    const std::string item =
        fmt::format("Fl {}{}", argument(dashed_names(*option).back().substr(1)), mdoc_value(*option));
    text += (option->get_required() ? "." : ".Op ") + item + "\n";
  }
  for (const CLI::Option* const option : command.get_options()) {
    if (!option->get_positional()) continue;
    text += fmt::format("{}Ar {}{}\n", option->get_required() ? "." : ".Op ", argument(option->get_name(true)),
                        option->get_expected_max() > 1 ? " ..." : "");
  }
  return text;
}

std::string manual_options(const CLI::App& command) {
  std::string text = ".Bl -tag -width Ds\n";
  for (const CLI::Option* const option : command.get_options()) {
    text += fmt::format(".It {}\n{}\n", item_of(*option), prose(sentence(option->get_description())));
    if (!is_flag(*option) && !option->get_default_str().empty()) {
      text += fmt::format("The default is {}.\n", escaped(option->get_default_str()));
    }
  }
  return text + ".El\n";
}

/// The footer: sentences, and examples, which are the lines that begin with two spaces.
struct Footer {
  std::string sentences{};
  std::string examples{};

  explicit Footer(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line == "Examples:" || line == "Example:") continue;
      const bool example = line.starts_with("  ");
      (example ? examples : sentences) += (example ? line.substr(2) : line) + "\n";
    }
  }
};

std::string examples_of(const Footer& footer) {
  if (footer.examples.empty()) return "";
  return fmt::format(".Sh EXAMPLES\n.Bd -literal\n{}.Ed\n", escaped(footer.examples));
}

std::string exit_status() {
  return ".Sh EXIT STATUS\n0: all is well.\n1: the outcome is bad, or it could not be finished.\n"
         "2: an option, a name or a value is wrong.\n";
}

std::string environment_section() {
  std::string text = ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n";
  for (const EnvironmentVariable& variable : environment_variables()) {
    text +=
        fmt::format(".It Ev {} = Ar {}\n{}\nThe default is {}.\n", argument(variable.name), argument(variable.values),
                    prose(sentence(std::string(variable.summary))), escaped(variable.fallback));
  }
  return text + ".El\n";
}

/// The page of circoll itself: its commands and the environment.
std::string manual_page(const CLI::App& app) {
  const Footer footer(app.get_footer());
  std::string text = manual_heading("circoll", app.get_description());
  text += ".Sh SYNOPSIS\n.Nm\n.Ar \\&COMMAND\n.Op Ar \\&options\n.Sh DESCRIPTION\nThe commands are these.\n";
  text += ".Bl -tag -width Ds\n";
  for (const CLI::App* const command : app.get_subcommands({})) {
    text += fmt::format(".It Xr circoll-{} 1\n{}\n", command->get_name(), prose(sentence(command->get_description())));
  }
  text += ".El\n.Pp\nThe options are these.\n" + manual_options(app);
  return text + environment_section() + exit_status() + examples_of(footer);
}

/// The page of one of its commands.
std::string manual_page_of(const CLI::App& command) {
  const Footer footer(command.get_footer());
  std::string text = manual_heading("circoll-" + command.get_name(), command.get_description());
  text += synopsis(command, "circoll " + command.get_name());
  text += fmt::format(".Sh DESCRIPTION\n{}\n", prose(sentence(command.get_description())));
  if (!footer.sentences.empty()) text += ".Pp\n" + prose(footer.sentences);
  text += ".Pp\nThe options are these.\n" + manual_options(command);
  if (command.get_name() == "run") text += environment_section();  // where a user looks for them
  return text + exit_status() + examples_of(footer) + ".Sh SEE ALSO\n.Xr circoll 1\n";
}

struct ManOptions {
  std::string command{};
  std::string directory{};
};

void write_manual(const CLI::App& app, const ManOptions& options) {
  if (options.directory.empty()) {
    return print(options.command.empty() ? manual_page(app) : manual_page_of(*app.get_subcommand(options.command)));
  }
  const std::filesystem::path directory(options.directory);
  std::filesystem::create_directories(directory);
  write_file((directory / "circoll.1").string(), manual_page(app));
  for (const CLI::App* const command : app.get_subcommands({})) {
    write_file((directory / ("circoll-" + command->get_name() + ".1")).string(), manual_page_of(*command));
  }
}

/// True for the name of a command, of which there are more than there were when this one was declared.
std::string known_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* const command : app.get_subcommands({})) {
    if (command->get_name() == name) return {};
  }
  return "'" + name + "' is no command";
}

}  // namespace

void add_man(CLI::App& app, Context& /*context*/) {
  const auto options = std::make_shared<ManOptions>();
  CLI::App* const command = app.add_subcommand("man", "Print a manual page, in mdoc");
  command->add_option("command", options->command, "The command that it is about; circoll itself without one")
      ->check([&app](const std::string& name) { return known_command(app, name); });
  command->add_option("--all", options->directory, "Write the pages of all commands into this directory")
      ->type_name("DIRECTORY");
  command->footer(
      "An installed circoll has them where man looks.\n"
      "Examples:\n"
      "  circoll man verify > circoll-verify.1\n"
      "  circoll man --all man1");
  command->callback([options, &app] { write_manual(app, *options); });
}

}  // namespace circoll::cli
