// circoll tune --here: what is measured in which order, and the profile that comes of it.
#include "here.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <stdexcept>

#include "circoll/circoll.h"
#include "circoll/collectives.hpp"
#include "commands.hpp"
#include "launcher.hpp"
#include "measured/profile.hpp"
#include "options/ranges.hpp"
#include "process.hpp"
#include "processors.hpp"
#include "tune/launches.hpp"
#include "tune/profile_file.hpp"

namespace circoll::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Launches below which no time limit ends the measuring: a choice from fewer is luck.
constexpr int least_launches = 3;

/// The work of one number of ranks.
struct WorkOfRanks {
  LaunchPlan plan{};
  bool crowded = false;
  std::vector<measured::AskedChoice> asked{};
};

struct Work {
  Launcher launcher{};
  std::vector<std::string> others{};  ///< MPIs that are here, too
  std::string bench{};
  Processors processors{};
  select::FoundProfile today{};               ///< the profile without the tuning
  std::unique_ptr<const Policy> automatic{};  ///< made of it; nullptr: the model
  int launches = 5;
  double seconds = 150;
  std::vector<WorkOfRanks> parts{};
};

WorkOfRanks part_for(const Work& work, const HereOptions& options, Rank ranks) {
  WorkOfRanks part{.crowded = ranks > work.processors.usable()};
  part.asked =
      asked_cells({.ranks = ranks, .crowded = part.crowded, .quick = options.quick, .today = work.automatic.get()});
  part.plan = {
      .launcher = work.launcher,
      .bench = work.bench,
      .ranks = ranks,
      .how = {.oversubscribe = part.crowded, .hardware_threads = !part.crowded && ranks > work.processors.cores()}};
  // Series also have to be prepared, and choices are checked in one more launch, with fewer candidates.
  constexpr double used = 0.8, checked = 0.7;
  const double series = static_cast<double>(series_in(part.asked)) * (work.launches + checked);
  part.plan.seconds = std::clamp(work.seconds * used / series, 0.002, 0.5);
  return part;
}

/// The numbers of ranks that are measured if nobody names some: powers of two up to the processors, and these.
std::vector<Rank> sensible_ranks(Count processors, Count cores) {
  std::set<Rank> all;
  for (Rank p = 2; p <= processors; p *= 2) all.insert(p);
  for (const Count p : {processors, cores}) {
    if (p >= 2) all.insert(p);
  }
  return {all.begin(), all.end()};
}

Work prepare(const HereOptions& options) {
  Work work;
  work.launches = options.launches > 0 ? options.launches : options.quick ? 2 : 5;
  work.seconds = options.seconds > 0 ? options.seconds : options.quick ? 12.0 : 150.0;
  work.launcher = options.launcher.empty() ? choose_launcher(options.mpi, work.others)
                                           : given_launcher(options.launcher, options.mpi);
  if (const std::string why = refusal(work.launcher); !why.empty()) throw std::runtime_error(why);
  const auto bench = find_bench(*work.launcher.mpi);
  if (!bench) {
    throw std::runtime_error(
        fmt::format("circoll-bench.{0} is neither beside this circoll nor on PATH; Circoll has to be "
                    "built for {1}",
                    work.launcher.mpi->id, work.launcher.mpi->title));
  }
  work.bench = *bench;
  work.processors = own_processors();
  require_profile_file(options.output);
  work.today = profile_of_today(library_of(work.launcher));
  if (!work.today.file.empty()) work.automatic = select::make_profile_policy(work.today.text, work.today.file, {});
  std::vector<Rank> ranks = options.ranks;
  if (ranks.empty()) ranks = sensible_ranks(work.processors.usable(), work.processors.cores());
  if (ranks.empty()) {
    throw std::runtime_error(
        "there is one processor for us here, so that ranks would take turns; measure that by -p 2");
  }
  for (const Rank p : std::set<Rank>(ranks.begin(), ranks.end())) work.parts.push_back(part_for(work, options, p));
  return work;
}

void announce(const Work& work) {
  std::string counts;
  for (const WorkOfRanks& part : work.parts) {
    counts += fmt::format("{}{}{}", counts.empty() ? "" : ", ", part.plan.ranks, part.crowded ? " (crowded)" : "");
  }
  fmt::print(stderr, "{} by {}, on {} processors; ranks: {}; at most {} launches each; about {}\n",
             library_of(work.launcher), work.launcher.file, work.processors.usable(), counts, work.launches,
             readable_duration(work.seconds * static_cast<double>(work.parts.size())));
  for (const std::string& other : work.others) fmt::print(stderr, "not measured now: {}\n", other);
  fmt::print(stderr, "compared with what runs today: {}\n",
             work.today.file.empty() ? "the choices of the model" : "the profile " + work.today.file);
}

void require_same_machine(const std::vector<Launch>& launches) {
  for (const Launch& one : launches) {
    const Launch& first = launches.front();
    if (one.library != first.library || one.processor != first.processor) {
      throw std::runtime_error(fmt::format("{} is of {} on '{}', but {} is of {} on '{}'; keep them apart", one.source,
                                           one.library, one.processor, first.source, first.library, first.processor));
    }
  }
}

/// True if little was measured: on a busy machine ranks come late to starts that a clock gives. Then they start by a
/// barrier.
bool too_little(const Launch& launch, const WorkOfRanks& part) {
  return launch.rows.size() * 5 < series_in(part.asked) * 4;
}

std::vector<Launch> measure_all(const Work& work, WorkOfRanks& part, const ResultDirectory& results,
                                Progress& progress) {
  const auto begin = Clock::now();
  std::vector<Launch> launches;
  for (int i = 1; i <= work.launches; ++i) {
    const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
    const double per_launch_s = launches.empty() ? 0 : elapsed_s / static_cast<double>(launches.size());
    // The last one would come too late.
    if (i > least_launches && elapsed_s + 1.7 * per_launch_s > work.seconds) {
      progress.skip(series_in(part.asked) * static_cast<std::size_t>(work.launches - i + 1));
      break;
    }
    launches.push_back(measure(part.plan, part.asked, i,
                               fmt::format("{} ranks, launch {} of {}", part.plan.ranks, i, work.launches), results,
                               progress));
    if (too_little(launches.back(), part) && part.plan.sync == "auto") {
      fmt::print(stderr, "ranks come late to many repetitions, since this node is busy: they start by a barrier now\n");
      part.plan.sync = "barrier";
      launches.clear();
      i = 0;
    }
  }
  if (launches.front().rows.empty()) {
    throw std::runtime_error("nothing could be measured, since this node is busy with something else");
  }
  require_same_machine(launches);
  return launches;
}

/// The outcome of one number of ranks.
struct TuningResult {
  std::size_t proposed = 0;  ///< cells in which the launches have found another choice than that of today
  std::size_t dropped = 0;   ///< of them, those that the launch to check has not confirmed
  measured::Gain gain{};
};

std::string summary(const WorkOfRanks& part, std::size_t asked, std::size_t cells, const std::vector<Launch>& launches,
                    const TuningResult& outcome) {
  const Launch& first = launches.front();
  const measured::Gain& gain = outcome.gain;
  std::string text = fmt::format("{} on '{}', {} ranks on a node: {} cells in {} launches\n", first.library,
                                 first.processor, part.plan.ranks, cells, launches.size());
  if (cells * 10 < asked * 9) {
    text += fmt::format("  {} more could not be measured in every launch, since this node is busy\n", asked - cells);
  }
  text += fmt::format("  {} of them could have a faster choice than today's", outcome.proposed);
  text += outcome.dropped > 0 ? fmt::format("; one more launch did not confirm {}\n", outcome.dropped) : "\n";
  if (gain.changed == 0) return text + "  nothing to gain: keep auto. Nothing is written\n";
  text += fmt::format("  {} are changed: there {}\n", gain.changed, speed_text(gain.changed_by));
  text += fmt::format("  against today's choices {}, against native {}, over all cells\n", speed_text(gain.over_base),
                      speed_text(gain.over_native));
  text += fmt::format("  the worst against native: {} ({})\n", speed_text(gain.least_over_native), gain.slowest);
  return text + "  (geometric means, by one more launch after the choices were made)\n";
}

/// The cells that can have a choice each.
std::size_t distinct_cells(const std::vector<measured::AskedChoice>& asked) {
  std::set<std::pair<Collective, Count>> cells;
  for (const measured::AskedChoice& one : asked) {
    cells.emplace(one.collective, Amounts::of_vector(one.collective, one.p, one.bytes).deciding_bytes());
  }
  return cells.size();
}

/// Measures one number of ranks, writes it into the profile if it brings something, and says so. `file` gets the name
/// of the profile that was written.
std::string tune_part(const Work& work, WorkOfRanks part, const HereOptions& options, const ResultDirectory& results,
                      Progress& progress, std::string& file) {
  const std::vector<Launch> launches = measure_all(work, part, results, progress);
  std::vector<measured::Chosen> chosen =
      measured::choose(part.asked, launches, tuned_operator, {.margin = options.margin});
  TuningResult outcome{.proposed = static_cast<std::size_t>(std::ranges::count_if(chosen, &measured::Chosen::changes))};
  if (outcome.proposed > 0) {
    const Launch check = measure(part.plan, cells_to_check(part.asked, chosen), work.launches + 1,
                                 fmt::format("{} ranks, launch to check", part.plan.ranks), results, progress);
    outcome.dropped = measured::drop_unconfirmed(chosen, check, {.margin = options.margin});
    outcome.gain = measured::gain_of(chosen, check);
  }
  std::string text = summary(part, distinct_cells(part.asked), chosen.size(), launches, outcome);
  if (outcome.proposed == outcome.dropped) return text;
  const select::ProfileKey key{.library = launches.front().library, .processor = launches.front().processor};
  const measured::StoredProfile stored =
      measured::store_profile(profile_file(options.output, key),
                              measured::ProfilePart{.key = key,
                                                    .ranks = {.ranks = part.plan.ranks,
                                                              .crowded = part.crowded,
                                                              .processors = work.processors.usable(),
                                                              .launches = static_cast<Count>(launches.size()),
                                                              .circoll = circoll_version(),
                                                              .date = today(),
                                                              .host = launches.front().host},
                                                    .op = tuned_operator,
                                                    .cells = measured::rule_cells(chosen)},
                              work.today.head.key == key ? work.today.text : "");
  if (!work.launcher.version.empty() && key.library != library_of(work.launcher)) {
    fmt::print(stderr, "circoll: {} is of {}, but programs that it starts run with {}; the profile is for these\n",
               work.launcher.file, library_of(work.launcher), key.library);
  }
  file = stored.file;
  return text +
         (stored.damaged.empty() ? ""
                                 : fmt::format("  what was there was no profile, and is {} now\n", stored.damaged)) +
         fmt::format("  written to {}\n", stored.file);
}

}  // namespace

void add_here_options(CLI::App& command, HereOptions& options) {
  const std::string group = "Measuring this node (--here)";
  command.add_option("--mpi", options.mpi, "The MPI to measure with; auto: the one of mpirun")
      ->check(CLI::IsMember({"auto", "openmpi", "mpich"}))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("-p,--ranks", options.ranks,
                  "Numbers of ranks (2,4,8); without it powers of two up to the processors, and these")
      ->delimiter(',')
      ->transform(whole_number())
      ->check(options::between(Rank{2}, Rank{1} << 20))
      ->group(group);
  command
      .add_option("--seconds", options.seconds, "The time for each number of ranks, without starting (default: 150)")
      ->check(options::above_zero())
      ->group(group);
  command
      .add_option("--launches", options.launches, "Launches at most; the time may allow for three only (default: 5)")
      ->check(options::between(1, 1000))
      ->group(group);
  command
      .add_flag("--quick", options.quick,
                "Six collectives at three sizes in two launches of together 12 s: for a first look, and tests")
      ->group(group);
  command
      .add_option("--keep", options.keep,
                  "A directory for what was measured; the same command goes on with what is there")
      ->group(group);
}

void tune_here(const HereOptions& options) {
  const Interruptible guard;
  const Work work = prepare(options);
  announce(work);
  const ResultDirectory results(options.keep);
  Progress progress;
  std::size_t series = 0;
  for (const WorkOfRanks& part : work.parts)
    series += series_in(part.asked) * static_cast<std::size_t>(work.launches + 1);
  progress.expect(series, work.seconds * static_cast<double>(work.parts.size()));
  std::string file;
  for (const WorkOfRanks& part : work.parts) {
    try {
      print(tune_part(work, part, options, results, progress, file));
    } catch (const std::exception& error) {
      if (!interrupted()) throw;
      std::string text = fmt::format("interrupted; {}", !file.empty() ? "the numbers of ranks before are in the profile"
                                                                      : "no profile was written");
      text += options.keep.empty()
                  ? "; with --keep DIR it could go on where it was"
                  : fmt::format("; 'circoll tune --here --keep {}' goes on where it was", options.keep);
      throw std::runtime_error(text);
    }
  }
  if (!file.empty()) print(use_of(file));
}

}  // namespace circoll::cli
