// The command line of circoll-torture.
#include "options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

#include "edits.hpp"
#include "facts/text.hpp"

namespace circoll::torture {
namespace {

void read_lists(const std::string& collectives, const std::string& modes, Options& options) {
  const bool all = collectives == "all", ranks = collectives == "ranks", neighbors = collectives == "neighbors";
  if (all || ranks) options.collectives.assign(all_collectives.begin(), all_collectives.end());
  if (all || neighbors) options.neighbors.assign(all_neighbor_functions.begin(), all_neighbor_functions.end());
  if (modes == "all") options.modes.assign(all_modes.begin(), all_modes.end());
  for (const std::string& name : split_list(all || ranks || neighbors ? "" : collectives)) {
    if (const auto called = called_from_string(name); called && called->neighbor) {
      options.neighbors.push_back(*called->neighbor);
      continue;
    }
    std::string known = name;
    if (const std::string wrong = rewrite_collective(known); !wrong.empty()) {
      throw CLI::ValidationError("--collectives", wrong);
    }
    options.collectives.push_back(*collective_from_string(known));
  }
  for (const std::string& name : split_list(modes == "all" ? "" : modes)) {
    const auto found = std::find_if(all_modes.begin(), all_modes.end(), [&](Mode m) { return name == to_string(m); });
    if (found == all_modes.end()) throw CLI::ValidationError("--modes", "no mode is named '" + name + "'");
    options.modes.push_back(*found);
  }
  if (options.collectives.empty() && options.neighbors.empty())
    throw CLI::ValidationError("--collectives", "none is named");
  if (options.modes.empty()) throw CLI::ValidationError("--modes", "none is named");
}

/// The options that another run needs to make the same cases.
std::string repetition(const Options& options, const std::string& collectives, const std::string& modes) {
  const Options defaults;
  std::string text = fmt::format("--seed {}", options.seed);
  if (options.max_count != defaults.max_count) text += fmt::format(" --max-count {}", options.max_count);
  if (options.max_operations != defaults.max_operations)
    text += fmt::format(" --max-operations {}", options.max_operations);
  if (collectives != "all") text += " --collectives " + collectives;
  if (modes != "all") text += " --modes " + modes;
  if (options.threads) text += " --threads multiple";
  if (options.may_be_native) text += " --may-be-native";
  if (options.many_communicators) text += " --many-communicators";
  return text;
}

}  // namespace

int read_options(int argc, char** argv, bool talk, Options& options) {
  CLI::App app("circoll-torture: random collectives, each compared with the MPI library's own");
  app.name("circoll-torture");
  std::string collectives = "all", modes = "all", threads = "single";
  std::int64_t only = -1;
  const CLI::Validator number(rewrite_number, "NUMBER");
  app.add_option("--seed", options.seed, "Cases are a function of it, of their number, and of the number of ranks")
      ->capture_default_str();
  app.add_option("--cases", options.cases, "Cases to run at most")->transform(number)->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "Begin no case after so many seconds; 0: no limit")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--first", options.first, "Number of the first case")->capture_default_str();
  app.add_option("--only", only, "Run this case only");
  app.add_option("--max-count", options.max_count, "Base elements in a buffer at most")
      ->capture_default_str()
      ->transform(number)
      ->check(CLI::PositiveNumber);
  app.add_option("--max-operations", options.max_operations, "Operations in a case at most")
      ->capture_default_str()
      ->transform(number)
      ->check(CLI::PositiveNumber);
  app.add_option("--collectives", collectives,
                 "Names separated by commas; all; ranks: those among all ranks; neighbors: those among neighbours")
      ->capture_default_str();
  app.add_option("--modes", modes, "blocking, nonblocking, persistent, separated by commas, or all")
      ->capture_default_str();
  app.add_option("--threads", threads,
                 "single: MPI_THREAD_SINGLE; multiple: MPI_THREAD_MULTIPLE, some cases in two threads")
      ->capture_default_str()
      ->check(CLI::IsMember({"single", "multiple"}));
  app.add_flag("--many-communicators", options.many_communicators,
               "Every case has hundreds of communicators, used a few times each; else one of 200 has some dozens");
  app.add_flag(
      "--may-be-native", options.may_be_native,
      "Leave out what the MPI library gets wrong, as if it served all calls: what stands in front of it may pass "
      "calls on");
  app.add_option("--edits", options.edits, "Simplify every case; --shrink prints what to write here");
  app.add_flag("--shrink", options.shrink, "Look for a smaller case that fails");
  app.add_option("--attempts", options.attempts, "Runs of a smaller case before it is said to pass")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_flag("--list", options.list, "Print the cases and do not run them");
  app.add_flag("--serial", options.serial, "Compare with results computed in one process instead");
  app.add_option("--patience", options.patience_s, "Seconds without progress until the run is given up as hung")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_flag("--verbose", options.verbose, "Print every case");
  app.footer(
      "Exit codes: 0 all right, 1 wrong results, 3 hung.\n"
      "Example:\n  mpirun -np 5 circoll run -- circoll-torture.openmpi --seed 7 --seconds 600 --shrink");
  try {
    app.parse(argc, argv);
    read_lists(collectives, modes, options);
    static_cast<void>(parse_edits(options.edits));
  } catch (const CLI::ParseError& error) {
    const int code = talk ? app.exit(error) : error.get_exit_code();
    return code == 0 ? 0 : 2;
  } catch (const std::invalid_argument& error) {
    if (talk) fmt::print(stderr, "circoll-torture: --edits: {}\n", error.what());
    return 2;
  }
  if (only >= 0) {
    options.first = only;
    options.cases = 1;
  } else if (app.count("--cases") == 0 && options.seconds <= 0) {
    options.cases = 100;
  }
  options.threads = threads == "multiple";
  options.repetition = repetition(options, collectives, modes);
  return -1;
}

}  // namespace circoll::torture
