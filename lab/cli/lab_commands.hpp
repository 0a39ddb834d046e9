// The commands of the lab: one file each, command_<name>.cpp.
#pragma once

#include <fmt/format.h>

#include "circoll/collectives.hpp"
#include "commands.hpp"

namespace circoll::cli {

void add_explore(CLI::App& app, Context& context);
void add_faults(CLI::App& app, Context& context);
void add_simulate(CLI::App& app, Context& context);

/// Throws Error(invalid_argument) unless the root is a rank of p, and 0 where a collective has none.
inline void check_root(Rank root, Rank p, Collective collective) {
  if (root >= p) misuse(fmt::format("--root lies in 0 .. {} for -p {}", p - 1, p));
  if (root != 0 && !is_rooted(collective)) misuse(fmt::format("{} has no root", to_string(collective)));
}

}  // namespace circoll::cli
