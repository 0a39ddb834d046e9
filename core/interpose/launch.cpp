#include "interpose/launch.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string_view>

#include "exec/mpi/library/library.hpp"
#include "facts/hash.hpp"

namespace circoll::interpose {
namespace {

struct Variables {
  const char* ranks;
  const char* rank;
};
/// SLURM_NTASKS is not among them, since a batch script, which is one process, has it, too.
constexpr std::array launchers{Variables{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                               Variables{"PMI_SIZE", "PMI_RANK"}, Variables{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
                               Variables{"MPI_LOCALNRANKS", "MPI_LOCALRANKID"}};
/// The same of the processes on a node.
constexpr std::array local_launchers{Variables{"OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
                                     Variables{"MPI_LOCALNRANKS", "MPI_LOCALRANKID"}};

/// True if a process was started with a variable. It is false if that cannot be seen.
bool was_started_with(pid_t process, std::string_view variable) {
  std::ifstream file("/proc/" + std::to_string(process) + "/environ", std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry.size() > variable.size() && entry.starts_with(variable) && entry[variable.size()] == '=') return true;
  }
  return false;
}

pid_t parent_of(pid_t process) {
  constexpr std::string_view field = "PPid:";
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field)) return static_cast<pid_t>(std::atol(line.c_str() + field.size()));
  }
  return 0;
}

/// The launcher's process on this node: the nearest ancestor without a variable that it gives its children. Wrappers
/// of the program have the variable.
struct Starter {
  pid_t process = 0;
  int generations = 0;  ///< between it and this process
};
Starter starter_of(const char* variable) {
  Starter starter{getppid(), 1};
  while (starter.process > 1 && was_started_with(starter.process, variable)) {
    starter = {parent_of(starter.process), starter.generations + 1};
  }
  return starter;
}

/// The launcher that has started this process; nullptr if there is none. A launcher that another one has started hands
/// on the other's variables, but is itself nearer.
const Variables* nearest(std::span<const Variables> launchers, Starter* starter) {
  const Variables* found = nullptr;
  for (const Variables& launcher : launchers) {
    if (!launch_number(launcher.rank) || !launch_number(launcher.ranks)) continue;
    const Starter own = starter_of(launcher.rank);
    if (found != nullptr && own.generations >= starter->generations) continue;
    found = &launcher;
    *starter = own;
  }
  return found;
}

}  // namespace

std::optional<std::string> launch_text(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::optional<int> launch_number(const char* name) {
  const auto text = launch_text(name);
  if (!text) return std::nullopt;
  int value = -1;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || *end != '\0' || value < 0) return std::nullopt;
  return value;
}

std::optional<Launch> launched_several() {
  for (const Variables& launcher : launchers) {
    const auto ranks = launch_number(launcher.ranks);
    const auto rank = launch_number(launcher.rank);
    if (ranks && rank && *ranks > 1) return Launch{launcher.ranks, *ranks, *rank};
  }
  return std::nullopt;
}

int launch_rank() {
  const auto launch = launched_several();
  return launch ? launch->rank : 0;
}

std::string launch_name() {
  Starter starter{getppid(), 1};
  (void)nearest(launchers, &starter);
  // One process may start several jobs.
  const std::uint64_t job = Hash().add(launch_text("PMIX_NAMESPACE").value_or("")).value();
  return "of " + std::to_string(starter.process) + "." + std::to_string(job);
}

std::optional<LocalRank> launch_local_rank() {
  Starter starter;
  const Variables* const launcher = nearest(local_launchers, &starter);
  if (launcher == nullptr) return std::nullopt;
  const LocalRank local{.rank = *launch_number(launcher->rank), .size = *launch_number(launcher->ranks)};
  return local.rank < local.size ? std::optional(local) : std::nullopt;
}

std::string how_to_hand_on(const std::vector<std::string>& names) {
  std::string text;
  const mpi::library::LauncherWords& words = mpi::library::launcher_words();
  for (const std::string& name : names) {
    text.append(text.empty() ? words.hands_on_first : words.hands_on_next).append(name);
  }
  return text + ", srun --export=ALL";
}

std::string how_to_preload() {
  return std::string(mpi::library::launcher_words().preloads) + ", srun --export=ALL,LD_PRELOAD=FILE";
}

}  // namespace circoll::interpose
