// All commands of circoll, in the groups in which help shows them.
#include "circoll/circoll.h"
#include "commands.hpp"
#include "lab.hpp"
#include "option_words.hpp"

namespace circoll::cli {
namespace {

struct Group {
  const char* title;
  std::vector<void (*)(CLI::App&, Context&)> commands;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> all{
      {"Run programs", {add_run, add_compare, add_doctor}},
      {"Choose algorithms", {add_tune, add_explain, add_export, add_check}},
      {"Look at algorithms", {add_list, add_show, add_cost, add_local}},
      {"Prove algorithms", {add_verify}},
      {"Measure", {add_bench, add_combine, add_guidelines, add_calibrate}},
      {"About circoll", {add_man, add_completion}},
  };
  return all;
}

}  // namespace

void add_commands(CLI::App& app, Context& context) {
  app.description("circoll: collective algorithms as schedules - list them, look at them, prove them, run them");
  app.name("circoll");
  app.set_version_flag("--version", circoll_version());
  app.formatter(help_formatter());
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  circoll list allreduce\n"
      "  circoll show allreduce/circulant_optimal -p 11 --rank 0\n"
      "  mpirun -np 4 circoll run -- ./program its arguments\n"
      "Exit codes: 0 ok, 1 failure, 2 misuse. 'circoll COMMAND --help' says more.");
  for (const Group& group : groups()) {
    for (const auto add : group.commands) {
      add(app, context);
      app.get_subcommands({}).back()->group(group.title);
    }
    for (const LabCommand& more : lab().commands) {
      if (more.group != group.title) continue;
      more.add(app, context);
      app.get_subcommands({}).back()->group(group.title);
    }
  }
}

}  // namespace circoll::cli
