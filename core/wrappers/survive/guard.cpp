#include "wrappers/survive/guarded_comm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "exec/mpi/comm/carrier.hpp"
#include "interpose/setup.hpp"

namespace circoll::mpi {
namespace {

constexpr std::chrono::seconds patience_of_begin(20);

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
  // SMPI's takes texts that it might write to.
  std::string of_class = "Circoll: a process has failed";
  std::string of_code = of_class + ", and the call has no result";
  PMPI_Add_error_string(error_class, of_class.data());
  if (PMPI_Add_error_code(error_class, &code) != MPI_SUCCESS) return error_class;
  PMPI_Add_error_string(code, of_code.data());
  return code;
}

}  // namespace

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
                      .now_and_then = [guard] { guard->look_at_unguarded(); }});
  instance_ = guard;
  return {};
}

std::uint64_t Guard::new_number() {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint64_t>(rank_) << 32U | ++numbers_;
}

void Guard::add(const std::shared_ptr<watch::PeerMonitor>& peer_monitor) {
  std::vector<std::pair<int, watch::Statement>> early;
  {
    const std::lock_guard lock(mutex_);
    peer_monitors_[peer_monitor->communicator()] = peer_monitor;
    if (const auto found = early_.find(peer_monitor->communicator()); found != early_.end()) {
      early = std::move(found->second);
      early_.erase(found);
    }
  }
  for (auto& [from, statement] : early) peer_monitor->hear(from, std::move(statement));
}

void Guard::close(const std::shared_ptr<watch::PeerMonitor>& peer_monitor) {
  {
    const std::lock_guard lock(mutex_);
    closed_[peer_monitor->communicator()] = peer_monitor;
    peer_monitors_.erase(peer_monitor->communicator());
  }
  peer_monitor->close();
  drop_if_closed(*peer_monitor);
}

/// Others may still be in their last call.
void Guard::drop_if_closed(const watch::PeerMonitor& peer_monitor) {
  if (!peer_monitor.is_closed_by_others()) return;
  const std::lock_guard lock(mutex_);
  closed_.erase(peer_monitor.communicator());
}

void Guard::heard(int from, std::span<const std::byte> message) {
  std::optional<watch::Statement> statement = watch::statement_from(message);
  if (!statement) return;
  std::shared_ptr<watch::PeerMonitor> peer_monitor;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = peer_monitors_.find(statement->communicator); found != peer_monitors_.end()) {
      peer_monitor = found->second;
    } else if (const auto closed = closed_.find(statement->communicator); closed != closed_.end()) {
      peer_monitor = closed->second;
    } else {
      // An answer to a question of a communicator that has been closed everywhere since.
      if (statement->stage == watch::CallPart::before && !statement->closing) return;
      auto& early = early_[statement->communicator];
      early.emplace_back(from, *std::move(statement));
      return;
    }
  }
  const bool closing = statement->closing;
  peer_monitor->hear(from, *std::move(statement));
  if (closing) drop_if_closed(*peer_monitor);
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

bool Guard::hits(const CommState& state) const {
  if (mesh_.ends() == 0 || !state.is_in_world()) return false;
  for (Rank r = 0; r < state.size(); ++r) {
    if (r != state.rank() && mesh_.has_failed(state.world_rank(r))) return true;
  }
  return false;
}

Guard::Unguarded::Unguarded(Guard& guard, std::vector<int> members, const char* what, std::chrono::seconds patience)
    : guard_(guard), what_(what), members_(std::move(members)), patience_(patience) {
  const std::lock_guard lock(guard_.mutex_);
  guard_.unguarded_.push_back(this);
}

Guard::Unguarded::~Unguarded() {
  const std::lock_guard lock(guard_.mutex_);
  guard_.unguarded_.remove(this);
}

void Guard::look_at_unguarded() {
  const auto now = std::chrono::steady_clock::now();
  const char* stuck_in = nullptr;
  {
    const std::lock_guard lock(mutex_);
    for (Unguarded* const one : unguarded_) {
      const auto has_failed = [this](int rank) { return rank != rank_ && mesh_.has_failed(rank); };
      if (std::none_of(one->members_.begin(), one->members_.end(), has_failed)) continue;
      if (!one->hit_) one->hit_ = now;
      if (now - *one->hit_ >= one->patience_) stuck_in = one->what_;
    }
  }
  if (stuck_in == nullptr) return;
  const std::vector<int> ranks = failed();
  const std::string text = fmt::format(
      "circoll: {} {} of MPI_COMM_WORLD failed, and rank {} waits in {}, which cannot go on without them: the job is "
      "ended\n",
      ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "), rank_, stuck_in);
  interpose::say_and_wait(text);
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

std::vector<int> members_of_group(MPI_Group group) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> members(ranks.size(), MPI_UNDEFINED);
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, size, ranks.data(), world, members.data());
  PMPI_Group_free(&world);
  std::erase(members, MPI_UNDEFINED);
  return members;
}

std::vector<int> members_of(MPI_Comm comm) {
  std::vector<int> members;
  if (comm == MPI_COMM_NULL) return members;
  const auto add = [&](int (*get_group)(MPI_Comm, MPI_Group*)) {
    MPI_Group group = MPI_GROUP_NULL;
    if (get_group(comm, &group) != MPI_SUCCESS) return;
    for (const int member : members_of_group(group)) members.push_back(member);
    PMPI_Group_free(&group);
  };
  add(PMPI_Comm_group);
  int is_intercommunicator = 0;
  PMPI_Comm_test_inter(comm, &is_intercommunicator);
  if (is_intercommunicator != 0) add(PMPI_Comm_remote_group);
  return members;
}

}  // namespace circoll::mpi
