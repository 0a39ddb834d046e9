// The commands of the lab: one file each, command_<name>.cpp.
#pragma once

#include "commands.hpp"

namespace circoll::cli {

void add_faults(CLI::App& app, Context& context);
void add_simulate(CLI::App& app, Context& context);
void add_whatif(CLI::App& app, Context& context);

}  // namespace circoll::cli
