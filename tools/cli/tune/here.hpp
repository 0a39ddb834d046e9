// circoll tune --here: measures this node and writes the profile by which "auto" goes from then on.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::cli {

struct HereOptions {
  std::string mpi = "auto";
  std::vector<Rank> ranks{};  ///< empty: all that make sense
  double seconds = 0;         ///< for each number of ranks; 0: 150, or 12 if quick
  int launches = 0;           ///< at most; 0: 5, or 2 if quick
  bool quick = false;
  double margin = 0.05;
  std::string output{};  ///< the profile; empty: in the user's directory
  std::string keep{};    ///< the directory of results; empty: none is kept
};

/// Adds the options of `circoll tune` that are about this node.
void add_here_options(CLI::App& command, HereOptions& options);

/// The numbers of ranks that are measured if nobody names some: powers of two up to the processors, and these.
[[nodiscard]] std::vector<Rank> sensible_ranks(Count processors, Count cores);

/// Throws Error or std::runtime_error, in one sentence, if that is not possible.
void tune_here(const HereOptions& options);

}  // namespace circoll::cli
