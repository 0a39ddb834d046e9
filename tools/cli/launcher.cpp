#include "launcher.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "circoll/error.hpp"
#include "process.hpp"
#include "processors.hpp"

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

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

/// The whole number that a variable has.
std::optional<long> number_in(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || std::isdigit(static_cast<unsigned char>(*value)) == 0) return std::nullopt;
  return std::strtol(value, nullptr, 10);
}

/// The tasks of the step of srun that this process is one of; 0: of none.
long tasks_of_step() { return is_set("SLURM_STEP_ID") ? number_in("SLURM_STEP_NUM_TASKS").value_or(1) : 0; }

/// A text in one line, as launchers break theirs anywhere.
std::string in_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank || (!line.empty() && line.back() != ' ')) line += blank ? ' ' : c;
  }
  return line;
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

Launcher given_launcher(const std::string& words, const std::string& mpi) {
  const std::string file = launcher_words(words, 2).front();
  if (const MpiLibrary* const named = mpi_named(mpi)) return {.mpi = named, .file = file, .words = words};
  if (const auto plain = program_file("mpirun")) {
    if (const auto launcher = launcher_in(*plain)) {
      return {.mpi = launcher->mpi, .file = file, .version = launcher->version, .words = words};
    }
  }
  std::vector<const MpiLibrary*> all;
  for (const MpiLibrary* const library : mpi_implementations) {
    if (find_bench(*library)) all.push_back(library);
  }
  if (all.size() != 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("'{}' does not say its MPI: give --mpi openmpi or --mpi mpich", words));
  }
  return {.mpi = all.front(), .file = file, .words = words};
}

const MpiLibrary* launching_mpi() {
  if (is_set("OMPI_COMM_WORLD_SIZE")) return &openmpi_library;
  if (is_set("PMI_SIZE") || is_set("PMI_RANK")) return &mpich_library;
  // PMIx has servers of its own, as srun; of the two only Open MPI asks them.
  return is_set("PMIX_RANK") ? &openmpi_library : nullptr;
}

std::optional<long> launched_rank() {
  if (is_set("OMPI_COMM_WORLD_SIZE")) return number_in("OMPI_COMM_WORLD_RANK").value_or(0);
  const long tasks = tasks_of_step();
  if (tasks > 1) return number_in("SLURM_PROCID").value_or(0);
  if (tasks == 1 || launching_mpi() == nullptr) return std::nullopt;
  for (const char* const name : {"PMI_RANK", "PMIX_RANK"}) {
    if (const auto rank = number_in(name)) return rank;
  }
  return 0;
}

std::string launch_warning(const MpiLibrary& mpi) {
  const auto openmpi_ranks = number_in("OMPI_COMM_WORLD_SIZE"), mpich_ranks = number_in("PMI_SIZE");
  const bool pmix = is_set("PMIX_RANK");
  // Programs of the standard's interface find out which MPI has started them.
  if (&mpi == &abi_library || launched_rank().value_or(0) != 0) return "";
  if (const long tasks = tasks_of_step(); tasks > 1 && !openmpi_ranks && !mpich_ranks && !pmix) {
    return fmt::format("srun has started {} ranks without PMI, so that each may be alone: srun {}", tasks,
                       srun_interface(&mpi));
  }
  const auto other = [&](const MpiLibrary& launching, long ranks, std::string_view launcher) {
    return fmt::format(
        "the launcher of {} has started {} ranks of a program that uses {}, so that each may be alone: start it with "
        "the {} of {}",
        launching.title, ranks, mpi.title, launcher, mpi.title);
  };
  // A launcher may have started the other one. Then nobody knows which of them is the nearer one.
  if (openmpi_ranks && mpich_ranks) return "";
  if (&mpi == &mpich_library && openmpi_ranks.value_or(1) > 1) return other(openmpi_library, *openmpi_ranks, "mpiexec");
  // srun gives both kinds of variables to ranks that ask for either.
  if (&mpi == &openmpi_library && mpich_ranks.value_or(1) > 1 && !pmix && tasks_of_step() == 0)
    return other(mpich_library, *mpich_ranks, "mpirun");
  return "";
}

std::string cause_and_remedy(const FailedLaunch& launch) {
  const std::string words = in_one_line(launch.words);
  const auto say = [&](std::string_view part) { return words.find(part) != std::string::npos; };
  const std::string more =
      launch.custom.empty() ? "--oversubscribe" : "--launcher with --oversubscribe behind the name of mpirun";
  if (say("not enough slots") || say("more processes than cpus")) {
    // A program that starts others by MPI_Comm_spawn may ask for slots, too.
    const std::string_view asked = "satisfy the ";
    if (const std::size_t at = words.find(asked); at != std::string::npos) {
      if (std::strtol(words.c_str() + at + asked.size(), nullptr, 10) != launch.ranks) return "";
    }
    if (launch.slots == 0 || launch.slots >= launch.ranks) {
      return fmt::format("Open MPI has fewer slots than {} ranks: a smaller --np, or {}", launch.ranks, more);
    }
    return fmt::format("Open MPI has {} {} for {} ranks: --np {}, or {}", launch.slots,
                       launch.slots == 1 ? "slot" : "slots", launch.ranks, launch.slots, more);
  }
  if (say("does not support recursive calls")) {
    return "mpirun has started this process, and starts no ranks inside: leave the outer mpirun out";
  }
  if (say("direct launched using \"srun\"") ||
      (launch.custom.find("srun") != std::string::npos && say("before MPI_INIT"))) {
    return "srun has given the ranks no PMI that Open MPI speaks: --launcher 'srun --mpi=pmix -n {np}'";
  }
  return "";
}

long openmpi_slots() {
  for (const char* const name : {"SLURM_JOB_ID", "PBS_NODEFILE", "LSB_JOBID", "PE_HOSTFILE",
                                 "OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile"}) {
    if (is_set(name)) return 0;
  }
  const Processors here = own_processors();
  // Open MPI does not look at the processors' time that control groups give.
  return std::max<long>(static_cast<long>(here.allowed / here.threads_per_core), 1);
}

std::string_view srun_interface(const MpiLibrary* mpi) { return mpi == &mpich_library ? "--mpi=pmi2" : "--mpi=pmix"; }

const MpiLibrary* mpi_named(const std::string& id) {
  for (const MpiLibrary* const library : mpi_libraries) {
    if (library->id == id) return library;
  }
  return nullptr;
}

std::vector<std::string> launch_command(const Launcher& launcher, long ranks, const LaunchOptions& options,
                                        const std::vector<std::string>& program) {
  if (!launcher.words.empty()) {
    std::vector<std::string> given = launcher_words(launcher.words, ranks);
    given.insert(given.end(), program.begin(), program.end());
    return given;
  }
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
  if (launcher.mpi != &openmpi_library || !launcher.words.empty() || geteuid() != 0) return "";
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
