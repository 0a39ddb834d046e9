#include "exec/mpi/guard/guard.hpp"

#include <cstdio>
#include <limits>
#include <random>
#include <utility>

#include "exec/mpi/comm/carrier.hpp"

namespace circoll::mpi {
namespace {

constexpr std::chrono::seconds patience_of_begin(20);
/// A thread that is still inside of the same call so long after a failure will not come out.
constexpr std::chrono::seconds patience_of_unguarded(3);

/// True on all ranks if it is on each.
bool on_all(bool here) {
  int mine = here ? 1 : 0;
  int all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

int make_error_code() {
  int error_class = MPI_ERR_OTHER;
  int code = MPI_ERR_OTHER;
  if (PMPI_Add_error_class(&error_class) != MPI_SUCCESS) return MPI_ERR_OTHER;
  PMPI_Add_error_string(error_class, "Circoll: a process has failed");
  if (PMPI_Add_error_code(error_class, &code) != MPI_SUCCESS) return error_class;
  PMPI_Add_error_string(code, "Circoll: a process has failed, and the call has no result");
  return code;
}

}  // namespace

std::atomic<Guard*>& Guard::instance() {
  static std::atomic<Guard*> guard{nullptr};
  return guard;
}

Guard::Guard(FaultMode mode, int rank, int size) : mode_(mode), rank_(rank), size_(size) {}

std::string Guard::begin(FaultMode mode) {
  int size = 1, rank = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size == 1) return "there is one process only";
  if (size > watch::Mesh::most_processes)
    return "at most " + std::to_string(watch::Mesh::most_processes) + " processes watch one another";
  if (!on_all(shared_world() != nullptr)) return "MPI_COMM_WORLD has no private communicator";
  // Never destroyed: threads of the program may still run at exit.
  auto* const guard = new Guard(mode, rank, size);
  std::uint64_t secret = std::random_device()() | std::uint64_t{std::random_device()()} << 32U;
  PMPI_Bcast(&secret, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  std::vector<watch::Address> all(static_cast<std::size_t>(size));
  const watch::Address own = guard->mesh_.address();
  PMPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  if (!on_all(guard->mesh_.connect(rank, all, secret, patience_of_begin))) {
    delete guard;
    return "the processes cannot connect to one another";
  }
  guard->error_ = make_error_code();
  guard->mesh_.watch({.heard = [guard](int from, std::span<const std::byte> message) { guard->heard(from, message); },
                      .ended = [](int /*rank*/) {},
                      .now_and_then = [guard] { guard->look_at_unguarded(); }});
  instance() = guard;
  return {};
}

void Guard::add(const std::shared_ptr<Ward>& ward) {
  std::vector<std::pair<int, watch::Statement>> early;
  {
    const std::lock_guard lock(mutex_);
    wards_[ward->communicator()] = ward;
    closed_.erase(ward->communicator());
    if (const auto found = early_.find(ward->communicator()); found != early_.end()) {
      early = std::move(found->second);
      early_.erase(found);
    }
  }
  for (auto& [from, statement] : early) ward->hear(from, std::move(statement));
}

void Guard::remove(const Ward& ward) {
  const std::lock_guard lock(mutex_);
  wards_.erase(ward.communicator());
  closed_[ward.communicator()] = ward.rank();
}

void Guard::heard(int from, std::span<const std::byte> message) {
  std::optional<watch::Statement> statement = watch::statement_from(message);
  if (!statement) return;
  std::shared_ptr<Ward> ward;
  watch::Statement beyond{.communicator = statement->communicator, .call = std::numeric_limits<std::uint64_t>::max()};
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = wards_.find(statement->communicator); found != wards_.end()) {
      ward = found->second;
    } else if (const auto closed = closed_.find(statement->communicator); closed != closed_.end()) {
      beyond.rank = closed->second;
    } else {
      early_[statement->communicator].emplace_back(from, *std::move(statement));
      return;
    }
  }
  if (ward != nullptr) return ward->hear(from, *std::move(statement));
  // All its calls have been made.
  mesh_.send(from, to_bytes(beyond));
}

void Guard::count(const std::function<void(FaultCounts&)>& change) {
  const std::lock_guard lock(mutex_);
  change(counts_);
}

FaultCounts Guard::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::vector<int> Guard::failed() const {
  std::vector<int> ranks;
  for (int r = 0; r < size_; ++r) {
    if (r != rank_ && mesh_.has_failed(r)) ranks.push_back(r);
  }
  return ranks;
}

void Guard::look_at_unguarded() {
  const char* const what = unguarded_.load();
  const std::uint64_t ended = unguarded_ended_.load();
  if (what == nullptr || failed().empty()) {
    stuck_since_.reset();
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!stuck_since_ || ended != stuck_in_) {
    stuck_since_ = now;
    stuck_in_ = ended;
  }
  if (now - *stuck_since_ < patience_of_unguarded) return;
  std::string ranks;
  for (const int rank : failed()) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  std::fprintf(stderr,
               "circoll: rank %s of MPI_COMM_WORLD has failed, and rank %d waits for it in %s, which is the MPI library's "
               "own: the job is ended\n",
               ranks.c_str(), rank_, what);
  std::fflush(stderr);
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace circoll::mpi
