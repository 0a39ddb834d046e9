// circoll tune --here: measures this node and writes the profile by which "auto" goes from then on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "circoll/select.hpp"
#include "circoll/types.hpp"
#include "measured/profile.hpp"
#include "options/cli11.hpp"

namespace circoll::cli {

struct HereOptions {
  std::string mpi = "auto";
  std::string launcher{};     ///< "srun -n {np}"; empty: the one on PATH
  std::vector<Rank> ranks{};  ///< empty: all that make sense
  double seconds = 0;         ///< for each number of ranks; 0: 150, or 12 if quick
  int launches = 0;           ///< at most; 0: 5, or 2 if quick
  bool quick = false;
  double margin = 0.03;
  std::string output{};  ///< the profile; empty: in the user's directory
  std::string keep{};    ///< the directory of results; empty: none is kept
};

/// Adds the options of `circoll tune` that are about this node.
void add_here_options(CLI::App& command, HereOptions& options);

/// Throws Error or std::runtime_error, in one sentence, if that is not possible.
void tune_here(const HereOptions& options);

// The cells that it measures, each with the algorithms that have a chance in it.

struct AskOptions {
  Rank ranks = 2;
  bool crowded = false;           ///< more ranks than processors
  bool quick = false;             ///< a few collectives and sizes
  const Policy* today = nullptr;  ///< what "auto" is without the tuning; nullptr: the model
};

/// The operator of everything that is measured. Sums of doubles are what programs reduce most, and rules for them are
/// for integers as well.
inline constexpr RuleOperator tuned_operator{.op = Op::sum, .type = Type::float64};

/// All cells. Their candidates are the choice of today, the model's best few, and native.
[[nodiscard]] std::vector<measured::AskedChoice> asked_cells(const AskOptions& options);

/// The cells of choices as a launch of its own measures them. Candidates are the choice of today, the one that was
/// made, and native.
[[nodiscard]] std::vector<measured::AskedChoice> cells_to_check(const std::vector<measured::AskedChoice>& asked,
                                                                const std::vector<measured::Chosen>& chosen);

/// Cells as circoll-bench --cells reads them, in an order that `seed` has shuffled.
[[nodiscard]] std::string cells_json(std::vector<measured::AskedChoice> cells, std::uint64_t seed);

/// The number of series that cells make, which is the number of lines that circoll-bench prints.
[[nodiscard]] std::size_t series_in(const std::vector<measured::AskedChoice>& cells);

}  // namespace circoll::cli
