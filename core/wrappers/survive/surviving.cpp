// Survival as a wrapper (CIRCOLL_FAULTS), and the functions of circoll/survive.h.
#include <fmt/format.h>
#include <mpi.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX's

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"
#include "exec/mpi/pending/progress.hpp"
#include "facts/environment.hpp"
#include "interpose/serve.hpp"
#include "interpose/state.hpp"
#include "wrappers/survive/guarded_comm.hpp"
#include "wrappers/wrappers.hpp"

namespace circoll::interpose {
namespace {

using mpi::CommState;
using mpi::FaultCounts;
using mpi::FaultMode;
using mpi::Guard;
using mpi::GuardedComm;

/// Said once, by the lowest rank that lives.
void say_how_it_went(const Guard& guard, const std::vector<int>& failed) {
  int lowest = 0;
  while (std::find(failed.begin(), failed.end(), lowest) != failed.end()) ++lowest;
  if (guard.rank() != lowest) return;
  const FaultCounts counts = guard.counts();
  const std::string text = fmt::format(
      "circoll: {} {} of MPI_COMM_WORLD failed; of the calls of rank {} that this hit, {} had their results, {} got "
      "those of all ranks, {} those of the survivors, {} were made again, {} failed; the longest took {:.1f} ms\n",
      failed.size() == 1 ? "rank" : "ranks", fmt::join(failed, ", "), guard.rank(), counts.committed, counts.full,
      counts.surv, counts.restarted, counts.refused, counts.longest_s * 1e3);
  std::fputs(text.c_str(), stderr);
}

/// The guarded form of a communicator, if it has one.
GuardedComm* guarded(MPI_Comm comm) noexcept {
  if (Guard::known() == nullptr) return nullptr;
  int error = MPI_SUCCESS;
  CommState* const state = CommState::of(comm, &error);
  GuardedComm* const found = state == nullptr ? nullptr : state->find_attached<GuardedComm>();
  return found != nullptr && found->is_set_up() ? found : nullptr;
}

/// Lets a process live on that writes to a dead one. Open MPI writes to sockets that may have been closed since it
/// looked, and leaves the signal of a broken pipe to its default, which ends the process without a word. A handler of
/// the program stays.
void ignore_broken_pipes() noexcept {
  struct sigaction set {};
  if (sigaction(SIGPIPE, nullptr, &set) != 0 || (set.sa_flags & SA_SIGINFO) != 0 || set.sa_handler != SIG_DFL) return;
  set.sa_handler = SIG_IGN;
  (void)sigaction(SIGPIPE, &set, nullptr);
}

/// Calls that survive failures of ranks, and an MPI_Finalize that survivors leave.
class Surviving final : public Serving {
 public:
  Surviving(Guard& guard, std::unique_ptr<Serving> next) : Serving(std::move(next)), guard_(guard) {}

  [[nodiscard]] mpi::CallResult perform(const mpi::Call& call, const mpi::InternedChoice& choice, bool timed) override {
    return mpi::perform_guarded(guard_, call, choice, timed);
  }
  [[nodiscard]] int finalize(int (*finalize)()) noexcept override;
  [[nodiscard]] bool serves_all() const override { return true; }
  [[nodiscard]] bool ends_waiting() const override { return true; }

 private:
  /// Lets the survivors of a failure meet. True if there has been one: MPI_Finalize would never end.
  [[nodiscard]] bool meet() noexcept;
  /// The end of this process is no failure.
  void leave() noexcept;

  Guard& guard_;
};

bool Surviving::meet() noexcept {
  try {
    const mpi::Call barrier{.collective = Collective::barrier, .comm = MPI_COMM_WORLD};
    (void)mpi::perform_guarded(guard_, barrier, State::get()->choice(Collective::barrier), false);
    const std::vector<int> failed = guard_.failed();
    if (failed.empty()) return false;
    say_how_it_went(guard_, failed);
    guard_.mesh().take_leave();
    return true;
  } catch (...) {
    return false;
  }
}

void Surviving::leave() noexcept {
  try {
    guard_.mesh().take_leave();
  } catch (...) {
    return;  // the others take this for a failure, when all is over
  }
}

int Surviving::finalize(int (*finalize)()) noexcept {
  if (meet()) return MPI_SUCCESS;
  int error = MPI_SUCCESS;
  {
    const Guard::Unguarded finalizing(guard_, mpi::members_of(MPI_COMM_WORLD), "MPI_Finalize");
    error = Serving::finalize(finalize);
  }
  leave();
  return error;
}

/// The error of an operation that a failure has hit, on a communicator: nobody else would end it.
int error_of_lost(const CommState& state) {
  const Guard* const guard = Guard::known();
  return guard != nullptr && guard->hits(state) ? guard->error() : MPI_SUCCESS;
}

std::optional<FaultMode> wanted_mode(const Wish& wish) {
  const std::string value = environment("CIRCOLL_FAULTS").value_or("off");
  if (value == "off") return std::nullopt;
  if (value != "finish" && value != "report") {
    wish.warn("CIRCOLL_FAULTS: '" + value + "' is none of off, report, finish; off is used");
    return std::nullopt;
  }
  return value == "finish" ? FaultMode::finish : FaultMode::report;
}

/// Why calls cannot be guarded in this run; empty if they can.
std::string why_unguarded(const Wish& wish) {
  if (mpi::base_is_made()) return "a program that does not call MPI_Init is not guarded";
  if (!wish.devices.empty()) {
    return wish.devices +
           ", and calls with memory of GPUs are not repaired; CIRCOLL_DEVICE_MEMORY=off says that no call has any";
  }
  if (match_setting() != "0") return "CIRCOLL_MATCH asks all ranks before each call";
  return {};
}

}  // namespace

std::unique_ptr<Serving> wrap_in_survival(const Wish& wish, std::unique_ptr<Serving> next) {
  const std::optional<FaultMode> mode = wanted_mode(wish);
  if (!mode) return next;
  std::string why = why_unguarded(wish);
  if (why.empty()) why = Guard::begin(*mode);
  if (!why.empty()) {
    wish.warn("CIRCOLL_FAULTS is off: " + why);
    return next;
  }
  ignore_broken_pipes();
  mpi::progress().set_error_of_lost(error_of_lost);
  if (const std::string setting = mpi::library::lets_survivors_live; !setting.empty()) {
    const char* const value = std::getenv(setting.c_str());
    if (value == nullptr || std::string(value) != "1")
      wish.warn(std::string("CIRCOLL_FAULTS: the launcher ends the job when a rank fails; ") +
                mpi::library::how_survivors_live);
  }
  return std::make_unique<Surviving>(*Guard::known(), std::move(next));
}

}  // namespace circoll::interpose

// The functions of circoll/survive.h.
extern "C" {

CIRCOLL_EXPORT int circoll_failed_ranks(MPI_Comm comm, int most, int* ranks) {
  const auto* const guarded = circoll::interpose::guarded(comm);
  if (guarded == nullptr) return 0;
  const std::vector<int> failed = guarded->failed_ranks();
  std::copy_n(failed.begin(), std::min(failed.size(), static_cast<std::size_t>(std::max(most, 0))), ranks);
  return static_cast<int>(failed.size());
}

CIRCOLL_EXPORT int circoll_last_result(MPI_Comm comm) {
  const auto* const guarded = circoll::interpose::guarded(comm);
  return guarded == nullptr ? 0 : static_cast<int>(guarded->last_result());
}

CIRCOLL_EXPORT int circoll_acknowledge(MPI_Comm comm) {
  auto* const guarded = circoll::interpose::guarded(comm);
  if (guarded == nullptr) return MPI_ERR_COMM;
  guarded->acknowledge();
  return MPI_SUCCESS;
}

CIRCOLL_EXPORT int circoll_survivors(MPI_Comm comm, MPI_Comm* survivors) {
  *survivors = MPI_COMM_NULL;
  const auto* const guarded = circoll::interpose::guarded(comm);
  if (guarded == nullptr) return MPI_ERR_COMM;
  const std::vector<int> failed = guarded->failed_ranks();
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group living = MPI_GROUP_NULL;
  int rc = PMPI_Comm_group(comm, &all);
  if (rc != MPI_SUCCESS) return rc;
  rc = PMPI_Group_excl(all, static_cast<int>(failed.size()), failed.data(), &living);
  if (rc == MPI_SUCCESS) {
    constexpr int tag = 0;
    const circoll::mpi::Guard::Unguarded making(*circoll::mpi::Guard::known(), circoll::mpi::members_of_group(living),
                                                "MPI_Comm_create_group");
    rc = PMPI_Comm_create_group(comm, living, tag, survivors);
    PMPI_Group_free(&living);
  }
  PMPI_Group_free(&all);
  return rc;
}

}  // extern "C"
