#include "launcher.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "process.hpp"

namespace circoll::cli {
namespace {

namespace fs = std::filesystem;

/// Names under which launchers are installed. Those that say their MPI come first.
constexpr std::array launcher_names{"mpirun.openmpi", "mpiexec.openmpi", "mpiexec.mpich", "mpirun.mpich",
                                    "mpirun",         "mpiexec",         "orterun",       "mpiexec.hydra"};

/// The first number with a point behind a word: "4.1.4" in "mpirun (Open MPI) 4.1.4".
std::string version_behind(const std::string& text, const std::string& word) {
  std::size_t at = text.find(word);
  if (at == std::string::npos) return "";
  at = text.find_first_of("0123456789\n", at + word.size());
  if (at == std::string::npos || text[at] == '\n') return "";
  std::size_t end = at;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.')) ++end;
  return text.substr(at, end - at);
}

fs::path own_directory() { return fs::read_symlink("/proc/self/exe").parent_path(); }

std::optional<std::string> first_of(const std::vector<fs::path>& candidates) {
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    if (fs::exists(candidate, error)) return candidate.string();
  }
  return std::nullopt;
}

/// The launcher that a file is, which is asked for its version.
std::optional<Launcher> launcher_in(const std::string& file) {
  const Ending ending = run_program({.arguments = {file, "--version"}, .limit = std::chrono::seconds(20)});
  return launcher_from_version(file, ending.out + ending.err);
}

}  // namespace

std::string library_of(const Launcher& launcher) {
  return std::string(launcher.mpi->title) + (launcher.version.empty() ? "" : " " + launcher.version);
}

std::optional<Launcher> launcher_from_version(const std::string& file, const std::string& text) {
  for (const char* word : {"(Open MPI)", "(OpenRTE)", "Open MPI"}) {
    if (text.find(word) == std::string::npos) continue;
    return Launcher{.mpi = &openmpi_library, .file = file, .version = version_behind(text, word)};
  }
  // Intel MPI and others have hydra, too, but say so.
  if (text.find("HYDRA") != std::string::npos && text.find("Intel") == std::string::npos) {
    return Launcher{.mpi = &mpich_library, .file = file, .version = version_behind(text, "Version:")};
  }
  return std::nullopt;
}

std::vector<Launcher> find_launchers() {
  std::vector<Launcher> found;
  const auto known = [&](const MpiLibrary* mpi) {
    return std::ranges::any_of(found, [&](const Launcher& one) { return one.mpi == mpi; });
  };
  for (const char* name : launcher_names) {
    const auto file = program_file(name);
    if (!file || found.size() == mpi_implementations.size()) continue;
    auto launcher = launcher_in(*file);
    if (launcher && !known(launcher->mpi)) found.push_back(*std::move(launcher));
  }
  std::ranges::sort(found, [](const Launcher& a, const Launcher& b) { return a.mpi->id > b.mpi->id; });
  return found;
}

Launcher choose_launcher(const std::string& wanted, std::vector<std::string>& others) {
  const std::vector<Launcher> found = find_launchers();
  const MpiLibrary* mpi = mpi_named(wanted);
  const auto plain = program_file("mpirun");
  if (mpi == nullptr && plain) {
    if (const auto launcher = launcher_in(*plain)) mpi = launcher->mpi;
  }
  const Launcher* chosen = nullptr;
  for (const Launcher& one : found) {
    if (chosen == nullptr && (mpi == nullptr || one.mpi == mpi)) chosen = &one;
  }
  if (chosen == nullptr) {
    throw std::runtime_error(
        fmt::format("no launcher of {} is on PATH; install it, or set PATH to where its mpirun or "
                    "mpiexec is",
                    mpi_named(wanted) != nullptr ? std::string(mpi_named(wanted)->title) : "Open MPI or MPICH"));
  }
  for (const Launcher& one : found) {
    if (one.mpi != chosen->mpi) others.push_back(fmt::format("{} (--mpi {})", library_of(one), one.mpi->id));
  }
  return *chosen;
}

const MpiLibrary* launching_mpi() {
  const auto set = [](const char* name) { return std::getenv(name) != nullptr; };
  if (set("OMPI_COMM_WORLD_SIZE")) return &openmpi_library;
  if (set("PMI_SIZE") || set("PMI_RANK")) return &mpich_library;
  // PMIx has servers of its own, as srun; of the two only Open MPI asks them.
  return set("PMIX_RANK") ? &openmpi_library : nullptr;
}

const MpiLibrary* mpi_named(const std::string& id) {
  for (const MpiLibrary* const library : mpi_libraries) {
    if (library->id == id) return library;
  }
  return nullptr;
}

std::vector<std::string> launch_command(const Launcher& launcher, long ranks, const LaunchOptions& options,
                                        const std::vector<std::string>& program) {
  std::vector<std::string> command{launcher.file};
  if (launcher.mpi == &openmpi_library) {
    // Where a slot is a core, two hardware threads of one are refused.
    if (options.oversubscribe) {
      command.insert(command.end(), {"--oversubscribe", "--bind-to", "none"});
    } else if (options.hardware_threads) {
      command.emplace_back("--use-hwthread-cpus");
    }
    // From 5 on it complains, in a line for each pair of ranks, that it cannot reach this node by IPv6.
    if (std::atoi(launcher.version.c_str()) >= 5) {
      command.insert(command.end(), {"--mca", "btl_tcp_disable_family", "6"});
    }
  }
  command.insert(command.end(), {launcher.mpi == &openmpi_library ? "-np" : "-n", std::to_string(ranks)});
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

std::string refusal(const Launcher& launcher) {
  if (launcher.mpi != &openmpi_library || geteuid() != 0) return "";
  if (std::getenv("OMPI_ALLOW_RUN_AS_ROOT") != nullptr && std::getenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") != nullptr) {
    return "";
  }
  return fmt::format(
      "{} starts nothing for root; be another user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and "
      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
      launcher.file);
}

std::optional<std::string> find_bench(const MpiLibrary& mpi) {
  const fs::path bin = own_directory();
  const std::string name = fmt::format("circoll-bench.{}", mpi.id);
  if (auto file = first_of({bin / name})) return file;
  return program_file(name);
}

std::optional<std::string> find_dropin(const MpiLibrary& mpi) {
  const fs::path bin = own_directory();
  const fs::path file = fs::path("circoll") / mpi.id / dropin_file;
  return first_of({bin.parent_path() / CIRCOLL_LIBDIR / file, bin.parent_path() / "lib" / file});
}

}  // namespace circoll::cli
