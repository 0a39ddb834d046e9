// circoll man writes manual pages from the table of commands.
#include <filesystem>
#include <memory>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "manual/page.hpp"

namespace circoll::cli {
namespace {

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
