// The runs of one algorithm under one description of the machine: several seeds, and what is made of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

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
[[nodiscard]] sim::Outcome play_once(const sim::Ranks& ranks, Count bytes, const Scene& scene, bool record);

/// The time on the scene's fabric, which is there. Throws sim::Stopped, and shows progress, as play_seeds does.
[[nodiscard]] sim::Contention read_rounds(const sim::Ranks& ranks, Count bytes, const Scene& scene);

/// Other circumstances to compare with.
struct Variation {
  std::string name;
  Scene scene;
};
/// Latency halved, bandwidth doubled, twice the ports, combining for free, one slow rank, one slow node.
[[nodiscard]] std::vector<Variation> variations(const Scene& scene, Rank p);

/// A trace in Chrome's format, which Perfetto reads. It has a track for each rank, a slice for each step, and an arrow
/// for each message.
[[nodiscard]] std::string trace_of(const sim::Ranks& ranks, const sim::Outcome& outcome, Count bytes,
                                   const std::string& title);

/// The critical path in words, a line for each step, none longer than a screen; at most `most` lines.
[[nodiscard]] std::string path_in_words(const sim::Ranks& ranks, const sim::Outcome& outcome, Count bytes,
                                        std::size_t most);

/// By how much ranks may begin later, and steps end later, without the last rank ending later. Two lines. Needs an
/// outcome with every step.
[[nodiscard]] std::string slack_in_words(const sim::Outcome& outcome);

}  // namespace circoll::cli
