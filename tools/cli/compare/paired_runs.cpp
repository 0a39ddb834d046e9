// Starts a program natively and with Circoll in turns, and reads its reports.
#include "paired_runs.hpp"

#include <fmt/format.h>

#include <fmt/chrono.h>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "facts/files.hpp"
#include "facts/text.hpp"
#include "launcher.hpp"
#include "measured/machine_load.hpp"
#include "process.hpp"
#include "select/text_file.hpp"

namespace circoll::cli {
namespace {

namespace fs = std::filesystem;

constexpr long most_traced_ranks = 64;

/// The MPI of the program, or the one that the user says.
///
/// For interpreters and scripts it is the MPI of the mpirun on PATH, as under `mpirun circoll run`. It is nullptr if
/// the user gives a launcher, because `circoll run` finds out by which launcher it was started.
const MpiLibrary* mpi_of(const PairedRuns& options) {
  const std::string& name = options.program.front();
  if (const MpiLibrary* const linked = linked_mpi(program_file(name).value_or(name))) return linked;
  if (const MpiLibrary* const said = mpi_named(options.mpi)) return said;
  if (!options.launcher.empty()) return nullptr;
  std::vector<std::string> others;
  const Launcher launcher = choose_launcher("auto", others);
  fmt::print(stderr, "'{}' is linked to no MPI; taking {}, as mpirun does (--mpi says another)\n", name,
             library_of(launcher));
  return launcher.mpi;
}

/// The MPI whose launcher starts a program of `mpi`. Every MPI can start programs of the standard ABI. The one that
/// mpirun belongs to starts them, unless the user says another.
const MpiLibrary* launched_by(const MpiLibrary* mpi, const PairedRuns& options) {
  if (mpi != &abi_library) return mpi;
  std::vector<std::string> others;
  const MpiLibrary* const said = mpi_named(options.mpi);
  return said != nullptr && said != &abi_library ? said : choose_launcher("auto", others).mpi;
}

/// The words that start the ranks of `program`.
std::vector<std::string> launched(const PairedRuns& options, const MpiLibrary* mpi,
                                  const std::vector<std::string>& program) {
  if (!options.launcher.empty()) {
    if (options.oversubscribe) {
      throw Error(ErrorCode::invalid_argument,
                  "--oversubscribe is for the launcher that circoll finds; write it into --launcher");
    }
    std::vector<std::string> words = launcher_words(options.launcher, options.ranks);
    words.insert(words.end(), program.begin(), program.end());
    return words;
  }
  const std::vector<Launcher> launchers = find_launchers();
  const MpiLibrary* const launching = launched_by(mpi, options);
  const auto found = std::ranges::find_if(launchers, [&](const Launcher& l) { return l.mpi == launching; });
  if (found == launchers.end()) {
    throw Error(ErrorCode::unsupported, fmt::format("no launcher of {} is on PATH; give one: --launcher 'COMMAND -n "
                                                    "{{np}}'",
                                                    launching->title));
  }
  if (const std::string why = refusal(*found); !why.empty()) throw Error(ErrorCode::unsupported, why);
  return launch_command(*found, options.ranks, {.oversubscribe = options.oversubscribe}, program);
}

/// Variables, as words for env(1), so that ranks on other nodes have them, too.
std::vector<std::string> settings(const PairedRuns& options, bool native, const std::string& report,
                                  const std::string& trace) {
  std::vector<std::string> words{"env"};
  if (options.compares_profiles()) {
    return {"env",
            "-u",
            "CIRCOLL_TRACE",
            "-u",
            "CIRCOLL_POLICY",
            "-u",
            "CIRCOLL_LEARN",
            "CIRCOLL_REPORT=" + report,
            "CIRCOLL_PROFILE=" + (native ? options.profile_without : options.profile_with)};
  }
  if (native) {
    for (const Collective collective : all_collectives)
      words.insert(words.end(), {"-u", algorithm_variable(collective)});
  }
  words.insert(words.end(), {"-u", "CIRCOLL_TRACE", "CIRCOLL_REPORT=" + report});
  if (!trace.empty()) words.push_back("CIRCOLL_TRACE=" + trace);
  if (native) words.emplace_back("CIRCOLL_POLICY=native");
  return words;
}

/// The name of a kind of runs, of which files begin with it.
std::string_view kind_of(const PairedRuns& options, bool with) {
  if (options.compares_profiles()) return with ? "rules" : "before";
  return with ? "circoll" : "native";
}

/// Throws the error of a run that has failed. It has the cause and the remedy if they are known. Otherwise it has the
/// last lines of the launcher and the ranks. `which` is "the run with Circoll".
[[noreturn]] void fail(const PairedRuns& options, const std::string& which, const Ending& ending) {
  constexpr std::size_t most_lines = 8;
  const std::string begin = which + " " + how_ended(ending);
  const std::string cause = cause_and_remedy(
      {.words = ending.err + ending.out, .ranks = options.ranks, .slots = openmpi_slots(), .custom = options.launcher});
  if (!cause.empty()) throw Error(ErrorCode::unsupported, begin + ": " + cause);
  const std::string lines = last_lines(ending, most_lines);
  throw Error(ErrorCode::unsupported, begin + (lines.empty() ? "" : "; the last lines that it wrote:" + lines));
}

/// True if the processes of the launcher are this one's descendants, so that the kernel can tell them from others.
bool starts_children(const PairedRuns& options) {
  const std::string name = fs::path(options.launcher.substr(0, options.launcher.find(' '))).filename().string();
  return options.launcher.empty() || name.starts_with("mpi");
}

/// Writes the load into the report's file, so that it is there when files are compared.
void add_load(const std::string& report, const measured::Load& load) {
  auto json = nlohmann::ordered_json::parse(select::read_text_file(report), nullptr, false);
  if (!json.is_object()) return;  // its reader says what is wrong
  json["load"] = {{"others", load.others}};
  if (load.pressure) json["load"]["pressure"] = *load.pressure;
  replace_file(report, json.dump(1) + "\n");
}

/// One launch of the program under the drop-in. `words` begin with env, and have its variables.
ChildProgram launch_of(const PairedRuns& options, const MpiLibrary* mpi, std::vector<std::string> words) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  words.insert(words.end(), {self, "run"});
  if (mpi != nullptr) words.insert(words.end(), {"--mpi", std::string(mpi->id)});
  words.emplace_back("--");
  words.insert(words.end(), options.program.begin(), options.program.end());
  ChildProgram launch{.arguments = launched(options, mpi, words),
                      .limit = std::chrono::milliseconds(static_cast<std::int64_t>(options.run_limit_s * 1000))};
  if (options.show_output) launch.on_line = [](std::string_view line) { fmt::print(stderr, "{}\n", line); };
  return launch;
}

ProgramReport run_once(const PairedRuns& options, const MpiLibrary* mpi, bool native, const std::string& report,
                       const std::string& trace = "") {
  std::error_code none;
  fs::remove(report, none);
  const ChildProgram launch = launch_of(options, mpi, settings(options, native, report, trace));
  const measured::LoadMeter meter;
  const Ending ending = run_program(launch);
  const std::optional<measured::Load> load = starts_children(options) ? meter.load() : std::nullopt;
  if (!ending.good()) {
    fail(options,
         fmt::format("the run {} {}", native ? "without" : "with",
                     options.compares_profiles() ? "the rules" : "Circoll"),
         ending);
  }
  if (!fs::exists(report)) {
    throw Error(ErrorCode::unsupported,
                fmt::format("the run has written no report to {}; does the program call MPI_Init and MPI_Finalize, and "
                            "is the directory the same on all nodes?{}",
                            report, ending.err.empty() ? "" : "\n" + ending.err));
  }
  if (load) add_load(report, *load);
  ProgramReport read = report_from_json(select::read_text_file(report), report);
  require_ranks(options, read.ranks);
  return read;
}

}  // namespace

void require_ranks(const PairedRuns& options, std::int64_t ranks) {
  if (ranks == options.ranks) return;
  const bool by_srun = options.launcher.starts_with("srun");
  throw Error(
      ErrorCode::unsupported,
      fmt::format("the program ran on {} {} in place of {}: {}", ranks, ranks == 1 ? "rank" : "ranks", options.ranks,
                  by_srun ? fmt::format("try --launcher 'srun {} -n {{np}}'", srun_interface(mpi_of(options)))
                          : "is this the launcher of its MPI?"));
}

bool may_start_ranks(const std::string& command) {
  const std::optional<long> rank = launched_rank();
  if (rank && *rank == 0) misuse(fmt::format("{} starts the ranks itself: leave mpirun out, and give --np N", command));
  return !rank;
}

void run_recorded(const PairedRuns& options, const std::string& name, const std::vector<std::string>& variables) {
  std::vector<std::string> words{"env"};
  words.insert(words.end(), variables.begin(), variables.end());
  const Ending ending = run_program(launch_of(options, mpi_of(options), std::move(words)));
  if (!ending.good()) fail(options, fmt::format("the run {}", name), ending);
}

std::string new_report_directory(const std::vector<std::string>& program) {
  // The name of a script says more than that of its interpreter.
  const bool interpreted = program.size() > 1 && linked_mpi(program_file(program[0]).value_or(program[0])) == nullptr &&
                           fs::is_regular_file(program[1]);
  const std::string name = fs::path(program[interpreted ? 1 : 0]).filename().string();
  const std::string first =
      fmt::format("circoll-compare/{}-{:%Y%m%d-%H%M%S}", name, fmt::localtime(std::time(nullptr)));
  std::string directory = first;
  for (int i = 2; fs::exists(directory); ++i) directory = fmt::format("{}-{}", first, i);
  return directory;
}

RunReports run_in_turns(const PairedRuns& options) {
  const MpiLibrary* const mpi = mpi_of(options);
  const std::string reports_in = options.directory.empty() ? new_report_directory(options.program) : options.directory;
  fs::create_directories(reports_in);
  const fs::path directory = fs::absolute(reports_in);
  const auto file = [&](const std::string& name) { return (directory / name).string(); };
  const std::uint64_t seed = options.seed.value_or(std::random_device{}());
  std::mt19937_64 random(seed);
  const Interruptible interruptible;
  const auto begin = std::chrono::steady_clock::now();
  const auto passed_s = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };

  RunReports reports{.made = {.limit_s = options.runs > 0 ? 0 : options.limit_s}};
  // Many ranks make a trace of gigabytes.
  const bool traced = options.ranks <= most_traced_ranks;
  (void)run_once(options, mpi, true, file("first.json"), traced ? file("first.trace.json") : "");
  if (std::ifstream trace(file("first.trace.json")); traced && trace) reports.made.waiting = waiting_of(trace);
  const double first_s = passed_s();

  Judge judge({.same_within = options.same_within});
  std::vector<RunPair> pairs;
  for (int pair = 1; options.runs == 0 || pair <= options.runs; ++pair) {
    const bool with_first = (random() >> 63U) == 1;
    for (const bool with : {with_first, !with_first}) {
      const std::string name = fmt::format("{}.{}.json", kind_of(options, with), pair);
      (with ? reports.with : reports.without).push_back(run_once(options, mpi, !with, file(name)));
    }
    pairs.push_back(pair_of(reports.without.back(), reports.with.back()));
    if (options.runs == 0) judge.add(pairs.back());
    reports.made.pair_s = (passed_s() - first_s) / pair;
    const bool rules = options.compares_profiles();
    fmt::print(stderr, "pair {}{}: {} without {}, {} with {}; {:.0f} s{}\n", pair,
               options.runs > 0 ? fmt::format(" of {}", options.runs) : "", readable_time(pairs.back().without_s),
               rules ? "the rules" : "Circoll", readable_time(pairs.back().with_s), rules ? "them" : "it", passed_s(),
               options.runs > 0 ? "" : fmt::format(" of at most {:.0f} s", options.limit_s));
    if (judge.decided() || (options.runs == 0 && passed_s() + reports.made.pair_s > options.limit_s)) break;
  }
  judge.finish();
  reports.made.verdict =
      options.runs > 0 ? circoll::judge(pairs, {.same_within = options.same_within}) : judge.verdict();
  fmt::print(stderr, "The order of the runs is of --seed {}. The reports of these runs are in {}\n", seed, reports_in);
  return reports;
}

}  // namespace circoll::cli
