// circoll run: starts a program with the drop-in preloaded.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "core/environment.hpp"
#include "linked_mpi.hpp"

namespace circoll::cli {
namespace {

namespace fs = std::filesystem;

struct RunOptions {
  std::string mpi = "auto";
  std::vector<std::string> program;
};

/// The file that execvp would run, for reading what it is linked to.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    rest = directory.size() == rest.size() ? std::string_view{} : rest.substr(directory.size() + 1);
    std::string candidate = fmt::format("{}/{}", directory, name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return name;
}

/// Which MPI the program uses: what it is linked to; for interpreters and scripts, what launched us.
std::string detect_mpi(const std::string& program) {
  if (const auto linked = linked_mpi(find_program(program))) return *linked;
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) return "openmpi";
  if (std::getenv("PMI_SIZE") != nullptr || std::getenv("PMI_RANK") != nullptr) return "mpich";
  throw Error(ErrorCode::unsupported,
              fmt::format("'{}' is linked to no MPI that Circoll knows, and neither mpirun of Open MPI nor mpiexec of "
                          "MPICH started this process; say which MPI it uses: circoll run --mpi openmpi -- {}",
                          program, program));
}

/// The drop-in beside this executable (installed: ../lib*/circoll, in the build tree: ../lib/circoll).
std::string find_dropin(const std::string& mpi) {
  if (const auto path = environment("CIRCOLL_DROPIN_PATH")) return *path;
  const fs::path bin = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path file = fs::path("circoll") / mpi / "libcircoll-mpi.so";
  for (const fs::path& candidate : {bin.parent_path() / CIRCOLL_LIBDIR / file, bin.parent_path() / "lib" / file}) {
    if (fs::exists(candidate)) return candidate.string();
  }
  throw Error(
      ErrorCode::unsupported,
      fmt::format("no drop-in for {} beside {}; set CIRCOLL_DROPIN_PATH to a libcircoll-mpi.so", mpi, bin.string()));
}

void run(const RunOptions& options) {
  const std::string mpi = options.mpi == "auto" ? detect_mpi(options.program.front()) : options.mpi;
  std::string preload = find_dropin(mpi);
  if (const char* const others = std::getenv("LD_PRELOAD"); others != nullptr && *others != '\0') {
    preload = fmt::format("{}:{}", preload, others);  // ours first, so that it comes before other tools
  }
  setenv("LD_PRELOAD", preload.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& argument : options.program) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  throw Error(ErrorCode::invalid_argument, fmt::format("'{}' can not be run: {}", argv[0], std::strerror(errno)));
}

}  // namespace

void add_run(CLI::App& app, Context& /*context*/) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run an MPI program with Circoll serving its collectives");
  command->add_option("--mpi", options->mpi, "The MPI that the program uses")
      ->check(CLI::IsMember({"auto", "openmpi", "mpich"}))
      ->capture_default_str();
  command->add_option("program", options->program, "The program and its arguments, after --")->required();
  command->positionals_at_end();
  command->footer(
      "Examples:\n"
      "  mpirun -np 4 circoll run -- ./program its arguments\n"
      "  CIRCOLL_REPORT=1 CIRCOLL_ALLREDUCE=circulant mpirun -np 4 circoll run -- python3 script.py\n"
      "The environment says which algorithms serve which collectives: see docs/environment.md.");
  command->callback([options] { run(*options); });
}

}  // namespace circoll::cli
