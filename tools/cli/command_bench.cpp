// circoll bench starts circoll-bench for the MPI in use, on every rank or with the ranks.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>
#include <vector>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "launcher.hpp"
#include "options/bench.hpp"
#include "options/ranges.hpp"
#include "process.hpp"

namespace circoll::cli {
namespace {

struct BenchCommand {
  std::string mpi = "auto";
  long ranks = 0;
  bool oversubscribe = false;
  options::BenchWords words{};
};

/// Options that circoll-bench does not have.
bool is_own(const std::string& name) {
  return name == "--help" || name == "--mpi" || name == "--np" || name == "--oversubscribe";
}

/// The options of circoll-bench that were given, with their values.
std::vector<std::string> passed_on(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* const option : command.get_options()) {
    const std::string name = "--" + (option->get_lnames().empty() ? std::string() : option->get_lnames().front());
    if (option->count() == 0 || is_own(name)) continue;
    words.push_back(name);
    if (option->get_items_expected_max() > 0) words.push_back(option->results().back());
  }
  return words;
}

std::string installed_bench(const MpiLibrary& mpi) {
  if (auto file = find_bench(mpi)) return *std::move(file);
  throw Error(
      ErrorCode::unsupported,
      fmt::format("circoll-bench.{0} is neither beside this circoll nor on PATH; build Circoll for {1}, or name "
                  "another MPI: --mpi",
                  mpi.id, mpi.title));
}

/// Starts ranks and hands on what they print. If the launcher refuses, the last line is the cause and the remedy. The
/// result is the exit code.
int start_ranks(const std::vector<std::string>& command, long ranks) {
  ChildProgram program{.arguments = command, .limit = std::chrono::hours(24 * 365)};
  program.on_line = [](std::string_view line) { print(std::string(line) + "\n"); };
  program.on_error_line = [](std::string_view line) { fmt::print(stderr, "{}\n", line); };
  const Interruptible interruptible;
  const Ending ending = run_program(program);
  if (ending.good()) return exit_ok;
  if (ending.how == Ending::How::not_started) {
    throw Error(ErrorCode::unsupported, fmt::format("{} {}", command.front(), how_ended(ending)));
  }
  const std::string cause =
      cause_and_remedy({.words = ending.err + ending.out, .ranks = ranks, .slots = openmpi_slots()});
  if (!cause.empty()) throw Error(ErrorCode::unsupported, cause);
  return ending.how == Ending::How::exited ? ending.code : exit_failure;
}

/// The exit code, where this process does not become circoll-bench.
int bench(const BenchCommand& options, const CLI::App& command) {
  std::vector<std::string> arguments = passed_on(command);
  if (const MpiLibrary* const launching = launching_mpi()) {
    if (options.ranks > 0) misuse("a launcher has started this process; --np is for starting ranks without one");
    const MpiLibrary* const said = mpi_named(options.mpi);
    arguments.insert(arguments.begin(), installed_bench(said != nullptr ? *said : *launching));
    become(arguments);
  }
  if (options.ranks == 0) misuse("how many ranks? circoll bench --np 2, or mpirun -np 4 circoll bench");
  std::vector<std::string> others;
  const Launcher launcher = choose_launcher(options.mpi, others);
  if (const std::string why = refusal(launcher); !why.empty()) throw Error(ErrorCode::unsupported, why);
  arguments.insert(arguments.begin(), installed_bench(*launcher.mpi));
  return start_ranks(launch_command(launcher, options.ranks, {.oversubscribe = options.oversubscribe}, arguments),
                     options.ranks);
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  const auto options = std::make_shared<BenchCommand>();
  CLI::App* const command = app.add_subcommand("bench", "Time collectives of the MPI library and of Circoll");
  command->add_option("--np", options->ranks, "Start so many ranks on this node; under mpirun or srun leave it out")
      ->transform(whole_number())
      ->check(options::at_least(1));
  command->add_option("--mpi", options->mpi, "The MPI; auto: the launcher's, else the one that mpirun belongs to")
      ->check(CLI::IsMember({"auto", "openmpi", "mpich"}))
      ->capture_default_str();
  command->add_flag("--oversubscribe", options->oversubscribe, "With --np, more ranks than there are processors");
  options::add_bench_options(*command, options->words);
  command->footer(
      "It runs circoll-bench.openmpi or circoll-bench.mpich, which has the other options; docs/admin/measuring.md.\n"
      "Examples:\n" +
      options::bench_examples());
  command->callback([options, command, &context] { context.exit_code = bench(*options, *command); });
}

}  // namespace circoll::cli
