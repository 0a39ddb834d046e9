#include "interpose/launch.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "exec/mpi/library/library.hpp"

namespace circoll::interpose {
namespace {

struct Variables {
  const char* ranks;
  const char* rank;
};
/// SLURM_NTASKS is not among them, since a batch script has it, too, which is one process.
constexpr std::array launchers{Variables{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                               Variables{"PMI_SIZE", "PMI_RANK"}, Variables{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
                               Variables{"MPI_LOCALNRANKS", "MPI_LOCALRANKID"}};

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
  for (const char* name : {"PMIX_NAMESPACE", "SLURM_JOB_ID"}) {
    if (const auto job = launch_text(name)) return *job + "." + launch_text("SLURM_STEP_ID").value_or("");
  }
  return "of " + std::to_string(getppid());
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
