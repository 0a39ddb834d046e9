// Starts a program natively and with Circoll in turns, and reads its reports.
#include "paired_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "launcher.hpp"
#include "process.hpp"
#include "select/text_file.hpp"

namespace circoll::cli {
namespace {

namespace fs = std::filesystem;

/// The MPI of the program; nullptr if neither the program nor the user says it.
const MpiLibrary* mpi_of(const PairedRuns& options) {
  const std::string& name = options.program.front();
  const MpiLibrary* const linked = linked_mpi(program_file(name).value_or(name));
  return linked != nullptr ? linked : mpi_named(options.mpi);
}

/// The MPI whose launcher starts a program of `mpi`. Programs of the standard ABI run with
/// every MPI. The one that mpirun belongs to starts them, unless the user names another.
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
    std::vector<std::string> words = launcher_words(options.launcher, options.ranks);
    words.insert(words.end(), program.begin(), program.end());
    return words;
  }
  if (mpi == nullptr) {
    throw Error(ErrorCode::unsupported,
                fmt::format("'{}' is linked to no MPI that Circoll knows; say which MPI it uses: --mpi openmpi",
                            options.program.front()));
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
std::vector<std::string> settings(bool native, const std::string& report) {
  std::vector<std::string> words{"env"};
  if (native) {
    for (const Collective collective : all_collectives)
      words.insert(words.end(), {"-u", algorithm_variable(collective)});
  }
  words.insert(words.end(), {"-u", "CIRCOLL_TRACE", "CIRCOLL_REPORT=" + report});
  if (native) words.emplace_back("CIRCOLL_POLICY=native");
  return words;
}

ProgramReport run_once(const PairedRuns& options, const MpiLibrary* mpi, bool native, const std::string& report) {
  std::error_code none;
  fs::remove(report, none);
  std::vector<std::string> program = settings(native, report);
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  program.insert(program.end(), {self, "run"});
  if (mpi != nullptr) program.insert(program.end(), {"--mpi", std::string(mpi->id)});
  program.emplace_back("--");
  program.insert(program.end(), options.program.begin(), options.program.end());
  Program launch{.arguments = launched(options, mpi, program),
                 .limit = std::chrono::milliseconds(static_cast<std::int64_t>(options.limit_s * 1000))};
  if (options.show_output) launch.on_line = [](std::string_view line) { fmt::print(stderr, "{}\n", line); };
  const Ending ending = run_program(launch);
  if (!ending.good()) {
    throw Error(ErrorCode::unsupported,
                fmt::format("the run {} {}", native ? "without Circoll" : "with Circoll", described(ending)));
  }
  if (!fs::exists(report)) {
    throw Error(ErrorCode::unsupported,
                fmt::format("the run has written no report to {}; is its directory the same on all nodes?{}", report,
                            ending.err.empty() ? "" : "\n" + ending.err));
  }
  ProgramReport read = report_from_json(select::read_text_file(report), report);
  // A launcher of another MPI starts so many programs of one rank each.
  if (read.ranks != options.ranks) {
    throw Error(ErrorCode::unsupported, fmt::format("the program ran on {} ranks in place of {}: is this the launcher "
                                                    "of its MPI?",
                                                    read.ranks, options.ranks));
  }
  return read;
}

}  // namespace

std::vector<std::string> launcher_words(const std::string& text, long ranks) {
  std::vector<std::string> words;
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != ' ') {
      word += text[i];
      continue;
    }
    if (const std::size_t at = word.find("{np}"); at != std::string::npos) word.replace(at, 4, std::to_string(ranks));
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  }
  if (words.empty() || text.find("{np}") == std::string::npos) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the launcher '{}' does not say where the number of ranks stands: 'srun -n {{np}}'", text));
  }
  return words;
}

RunReports run_in_turns(const PairedRuns& options) {
  const MpiLibrary* const mpi = mpi_of(options);
  fs::create_directories(options.directory);
  const fs::path directory = fs::absolute(options.directory);
  RunReports reports;
  const Interruptible interruptible;
  for (int pair = 0; pair < options.runs; ++pair) {
    for (const bool second : {false, true}) {
      const bool native = (pair % 2 == 0) != second;
      const std::string file = fmt::format("{}.{}.json", native ? "native" : "circoll", pair + 1);
      const ProgramReport report = run_once(options, mpi, native, (directory / file).string());
      fmt::print(stderr, "{}: {}{}\n", (fs::path(options.directory) / file).string(),
                 readable_time(report.collectives_s()) + " in collectives",
                 report.program_s ? " of " + readable_time(*report.program_s) : "");
      (native ? reports.without : reports.with).push_back(report);
    }
  }
  return reports;
}

}  // namespace circoll::cli
