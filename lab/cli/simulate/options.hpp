// The options of circoll simulate, and the scene that they describe.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulate/network.hpp"
#include "simulate/play.hpp"

namespace circoll::cli {

/// All options, as they are given.
struct SimulateOptions {
  std::string what;
  std::vector<Rank> sizes;
  std::vector<Count> bytes{1024};
  Rank root = 0;
  std::string op = "sum";
  std::string machine_file;
  std::string loggops;
  std::string exchange;
  std::string node_loggops;
  std::string group_loggops;
  std::optional<double> gamma;
  Rank cores = 1;
  Rank group_nodes = 0;
  int ports = 1;
  NetworkOptions network{};
  std::string skew = "none";
  std::string noise = "none";
  std::string arrivals;
  std::vector<std::string> slow;
  std::uint64_t seed = 1;
  int seeds = 1;
  int jobs = 0;
  std::string trace;
  bool path = false;
  bool what_if = false;
  bool json = false;
};

/// Machine, prices and circumstances, for any number of ranks. Throws Error, as the readers of files do.
[[nodiscard]] Scene scene_of(const SimulateOptions& options);
/// The scene for p ranks: arrivals, and places on a network, are one for each.
[[nodiscard]] Scene for_size(Scene scene, const SimulateOptions& options, Rank p);
/// Refuses options that have no place where schedules are read round by round. Throws Error(invalid_argument).
void check_network_options(const SimulateOptions& options);
/// Adds the options that describe the machine and its irregularities.
void add_machine_options(CLI::App& command, SimulateOptions& options);

}  // namespace circoll::cli
