// All commands of circoll, by floor: for programs, for tuning, for algorithms, and those of the lab.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "circoll/circoll.h"
#include "commands.hpp"
#include "lab.hpp"
#include "option_words.hpp"
#include "options/ranges.hpp"

namespace circoll::cli {
namespace {

struct Floor {
  const char* title;
  std::vector<AddCommand> commands;
};

const std::vector<Floor>& floors() {
  static const std::vector<Floor> all{
      {"For programs",
       {add_run, add_compare, add_bits_compare, add_report, add_doctor, add_hang, add_man, add_completion}},
      {"For tuning",
       {add_tune, add_explain, add_bench, add_merge, add_import, add_guidelines, add_calibrate, add_export, add_lint}},
      {"For algorithms", {add_list, add_show, add_explore, add_cost, add_traffic, add_execute, add_plot, add_verify}},
      {"Lab", {lab().commands.begin(), lab().commands.end()}},
  };
  return all;
}

struct RenamedCommand {
  std::string_view before;
  std::string_view now;
};

/// Names of 0.2, which 0.3 still understands.
constexpr std::array renamed_commands{RenamedCommand{"check", "lint"}, RenamedCommand{"combine", "merge"},
                                      RenamedCommand{"local", "execute"}};

}  // namespace

std::string_view renamed_command(std::string_view name) {
  const auto found = std::find_if(renamed_commands.begin(), renamed_commands.end(),
                                  [&](const RenamedCommand& one) { return one.before == name; });
  return found == renamed_commands.end() ? std::string_view{} : found->now;
}

void add_commands(CLI::App& app, Context& context) {
  app.description("circoll: collective operations of MPI, served by algorithms that are proven, measured and chosen");
  app.name("circoll");
  app.set_version_flag("--version", circoll_version());
  app.add_flag_callback(
      std::string(help_of_all_flags), [] {}, "List all commands");
  app.formatter(help_formatter());
  app.failure_message(options::failure_message);
  app.require_subcommand(1);
  app.footer(
      "'circoll --help --all' lists all commands: for programs, for tuning, for algorithms, and those of the lab.\n"
      "'circoll COMMAND --help' explains a command. Pages named docs/... are installed in share/doc/circoll.\n"
      "Examples:\n"
      "  circoll compare --np 2 -- ./program\n"
      "  circoll list allreduce\n"
      "  circoll show allreduce/circulant_optimal -p 11 --rank 0\n"
      "Exit codes: 0 ok, 1 failure, 2 misuse.");
  for (const Floor& floor : floors()) {
    for (const AddCommand add : floor.commands) {
      add(app, context);
      app.get_subcommands({}).back()->group(floor.title);
    }
  }
}

}  // namespace circoll::cli
