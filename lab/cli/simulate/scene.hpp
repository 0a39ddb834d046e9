// The scene that the options of circoll simulate describe, the runs in it, and words about them.
//
// Each section names its source.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "chart.hpp"
#include "cli/graph/neighbor_call.hpp"
#include "facts/median.hpp"
#include "sim/contention.hpp"
#include "sim/sim.hpp"

namespace circoll::cli {

/// The description of what is simulated, common to all runs.
struct Scene {
  Machine machine{};
  sim::Network network{};
  sim::Circumstances circumstances{};
  std::optional<sim::Fabric> fabric{};  ///< if messages share links: schedules are read round by round then
  int seeds = 1;
  int jobs = 1;
  Rank root = 0;
};

// options.cpp

/// All options, as they are given.
struct SimulateOptions {
  std::string what;
  std::vector<std::string> files;  ///< of schedules, ranked beside `what`
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
  std::optional<int> ports{};
  bool shared = false;
  std::string topology;  ///< words or a file; empty: messages meet no network
  std::string placement = "consecutive";
  std::string skew = "none";
  std::string noise = "none";
  std::string arrivals;
  std::vector<std::string> slow;
  std::uint64_t seed = 1;
  int seeds = 1;
  int jobs = 0;
  std::string trace;
  std::string plot;            ///< the name of a chart; empty: none
  std::optional<Chart> chart;  ///< that chart, once the run has begun
  bool path = false;
  bool what_if = false;
  bool json = false;
  GraphOptions graph{};  ///< of neighbourhood collectives
};

/// Machine, prices and circumstances, for any number of ranks. Throws Error, as the readers of files do.
[[nodiscard]] Scene scene_of(const SimulateOptions& options);
/// The scene for p ranks: arrivals, and places on a network, are one for each.
[[nodiscard]] Scene for_size(Scene scene, const SimulateOptions& options, Rank p);
/// Refuses options that have no place where schedules are read round by round. Throws Error(invalid_argument).
void check_network_options(const SimulateOptions& options);
/// Adds the options that describe the machine and its irregularities.
void add_machine_options(CLI::App& command, SimulateOptions& options);

// play.cpp

/// The times of the runs of all seeds, shortest first.
struct SeedTimes {
  std::vector<double> sorted_s{};

  [[nodiscard]] double median() const { return median_of_sorted(sorted_s); }
};

/// The schedules of all ranks. Throws sim::Stopped, and shows progress, as play_seeds does.
[[nodiscard]] sim::Ranks generate(const Selection& selection, Rank p, const Scene& scene);
/// Plays all seeds. Throws sim::Stopped once interrupted() (process.hpp). Shows progress on terminals.
[[nodiscard]] SeedTimes play_seeds(const sim::Ranks& ranks, Count bytes, const Scene& scene);
/// One run, of the first seed, with every step if `record`.
[[nodiscard]] sim::SimulatedRun play_once(const sim::Ranks& ranks, Count bytes, const Scene& scene, bool record);

/// The time on the scene's fabric. Precondition: there is one. Throws sim::Stopped, and shows progress, as play_seeds
/// does.
[[nodiscard]] sim::Contention read_rounds(const sim::Ranks& ranks, Count bytes, const Scene& scene);

/// Other circumstances to compare with.
struct Variation {
  std::string name;
  Scene scene;
};
/// Latency halved, bandwidth doubled, twice the ports, combining for free, one slow rank, one slow node.
[[nodiscard]] std::vector<Variation> variations(const Scene& scene, Rank p);

// words.cpp

/// A trace in Chrome's format, which Perfetto reads. It has a track for each rank, a slice for each step, and an arrow
/// for each message.
[[nodiscard]] std::string trace_of(const sim::Ranks& ranks, const sim::SimulatedRun& outcome, Count bytes,
                                   const std::string& title);

/// The critical path in words, a line for each step, none longer than a screen; at most `most` lines.
[[nodiscard]] std::string path_in_words(const sim::Ranks& ranks, const sim::SimulatedRun& outcome, Count bytes,
                                        std::size_t most);

/// By how much ranks may begin later, and steps end later, without the last rank ending later. Two lines. Needs an
/// outcome with every step.
[[nodiscard]] std::string slack_in_words(const sim::SimulatedRun& outcome);

/// "torus:dims=4x4, consecutive, at most 2 ranks on a node".
[[nodiscard]] std::string network_in_words(const SimulateOptions& options, const sim::Fabric& fabric);

/// Time, bytes by level, and rounds with their busiest links, in lines; of rounds at most `most`.
[[nodiscard]] std::string contention_in_words(const sim::Contention& contention, const sim::Fabric& fabric,
                                              std::size_t most);
/// Adds the same to an object, with all rounds.
void add_contention(nlohmann::ordered_json& json, const sim::Contention& contention, const sim::Fabric& fabric);

}  // namespace circoll::cli
