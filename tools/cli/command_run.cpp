// circoll run: starts a program with the drop-in preloaded.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "compare/paired_runs.hpp"
#include "facts/environment.hpp"
#include "launcher.hpp"
#include "process.hpp"

namespace circoll::cli {
namespace {

namespace fs = std::filesystem;

struct RunOptions {
  std::string mpi = "auto";
  std::vector<std::string> program;
  bool compare = false;
  PairedRuns runs;
};

/// The MPI that the program is linked to. For interpreters and scripts the user says it, or the launcher.
const MpiLibrary& detect_mpi(const std::string& program, const MpiLibrary* said) {
  const MpiLibrary* const linked = linked_mpi(program_file(program).value_or(program));
  if (linked != nullptr && said != nullptr && linked != said) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("'{}' uses {}, not {}; leave out --mpi {}", program, linked->title, said->title, said->id));
  }
  if (linked != nullptr) return *linked;
  if (said != nullptr) return *said;
  if (const MpiLibrary* const launching = launching_mpi()) return *launching;
  throw Error(ErrorCode::unsupported,
              fmt::format("'{}' is linked to no MPI that Circoll knows, and neither mpirun of Open MPI nor mpiexec of "
                          "MPICH started this process; say which MPI it uses: circoll run --mpi openmpi -- {}",
                          program, program));
}

/// The file that CIRCOLL_DROPIN_PATH names, which must be a drop-in for the program's MPI.
std::string checked_dropin(const std::string& path, const MpiLibrary& mpi) {
  if (!fs::exists(path)) {
    throw Error(ErrorCode::invalid_argument, fmt::format("CIRCOLL_DROPIN_PATH names '{}', which does not exist", path));
  }
  const MpiLibrary* const linked = linked_mpi(path);
  if (linked != &mpi) {
    const std::string what = linked == nullptr ? "no drop-in" : fmt::format("for {}", linked->title);
    throw Error(ErrorCode::invalid_argument,
                fmt::format("CIRCOLL_DROPIN_PATH names '{}', which is {}, but the program uses {}; leave it unset",
                            path, what, mpi.title));
  }
  return path;
}

/// The drop-in that the environment names, or that of this installation.
std::string dropin_for(const MpiLibrary& mpi) {
  if (const auto path = environment("CIRCOLL_DROPIN_PATH")) return checked_dropin(*path, mpi);
  if (auto file = find_dropin(mpi)) return *std::move(file);
  throw Error(ErrorCode::unsupported,
              fmt::format("no drop-in for {} beside {}; set CIRCOLL_DROPIN_PATH to a {}", mpi.title,
                          fs::read_symlink("/proc/self/exe").parent_path().string(), dropin_file));
}

/// The value of LD_PRELOAD with a drop-in. Runtimes of sanitizers, which must be first, come before the drop-in: the
/// program's, and those that are preloaded already. Other tools come after it. Other drop-ins are left out.
std::string preloads(const std::string& dropin, const std::string& program) {
  std::vector<std::string> first = linked_sanitizers(program_file(program).value_or(program));
  const char* const value = std::getenv("LD_PRELOAD");
  std::string_view rest = value == nullptr ? "" : value;
  std::vector<std::string> others;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find_first_of(": "));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    if (entry.empty() || fs::path(entry).filename() == dropin_file) continue;
    std::vector<std::string>& list = is_sanitizer(entry) ? first : others;
    if (std::ranges::find(list, entry) == list.end()) list.emplace_back(entry);
  }
  first.push_back(dropin);
  first.insert(first.end(), others.begin(), others.end());
  return fmt::format("{}", fmt::join(first, ":"));
}

/// Starts the program several times, natively and with Circoll.
void run_compared(const RunOptions& options) {
  if (!may_start_ranks("run --compare")) return;
  PairedRuns runs = options.runs;
  runs.mpi = options.mpi;
  runs.program = options.program;
  const RunReports reports = run_in_turns(runs);
  print(comparison_text(compare_runs(reports.without, reports.with, runs.same_within, reports.made)));
}

void run(const RunOptions& options) {
  const std::string& program = options.program.front();
  const MpiLibrary& mpi = detect_mpi(program, mpi_named(options.mpi));
  const std::string dropin = dropin_for(mpi);
  if (const std::string warning = launch_warning(mpi); !warning.empty())
    fmt::print(stderr, "circoll: warning: {}\n", warning);
  setenv("LD_PRELOAD", preloads(dropin, program).c_str(), 1);
  become(options.program);
}

}  // namespace

void add_run(CLI::App& app, Context& /*context*/) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run an MPI program whose collectives Circoll serves");
  command->add_option("--mpi", options->mpi, "The MPI that the program uses, of which abi is the standard's interface")
      ->check(CLI::IsMember({"auto", "openmpi", "mpich", "abi"}))
      ->capture_default_str();
  command->add_option("program", options->program, "The program and its arguments, after --")
      ->type_name("PROGRAM")
      ->required();
  command->add_flag("--compare", options->compare,
                    "Start the program natively and with Circoll in turns, and compare their times, as circoll "
                    "compare does; takes --np, not mpirun before it");
  add_paired_runs(*command, options->runs);
  command->positionals_at_end();
  command->footer(
      "Examples:\n"
      "  mpirun -np 4 circoll run -- ./program its arguments\n"
      "  CIRCOLL_REPORT=1 CIRCOLL_BCAST=circulant mpirun -np 4 circoll run -- python3 script.py\n"
      "  circoll run --compare --np 4 -- ./program its arguments\n"
      "The environment says which algorithms serve which collectives: see 'man circoll-run'.");
  command->callback([options, command] {
    if (options->compare) return run_compared(*options);
    for (const char* name :
         {"--np", "--runs", "--launcher", "--oversubscribe", "--reports", "--limit", "--run-limit", "--seed"}) {
      if (command->count(name) == 0) continue;
      throw Error(ErrorCode::invalid_argument, fmt::format("{} is for --compare; without it mpirun starts 'circoll "
                                                           "run' on every rank: mpirun -np 4 circoll run -- {}",
                                                           name, options->program.front()));
    }
    run(*options);
  });
}

}  // namespace circoll::cli
