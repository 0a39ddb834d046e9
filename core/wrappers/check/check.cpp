#include "wrappers/check/check.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <numeric>
#include <string>

#include "exec/mpi/comm/carrier.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/failures.hpp"
#include "facts/environment.hpp"
#include "interpose/all_ranks.hpp"
#include "wrappers/wrappers.hpp"

namespace circoll::interpose {
namespace {

/// After this time a rank says which call it waits for.
constexpr int patience_s = 10;

/// Says something once, after that time.
class WaitNotice {
 public:
  template <typename Say>
  void wait(Say&& say) {
    // The MPI library has its own way to wait. This yield is for libraries that spin while ranks outnumber cores.
    if (++tries_ % tries_per_yield == 0) sched_yield();
    if (said_ || std::chrono::steady_clock::now() < end_) return;
    said_ = true;
    std::fputs(say().c_str(), stderr);
    std::fflush(stderr);
  }
  [[nodiscard]] bool over() const { return said_; }

 private:
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::seconds(patience_s);
  static constexpr unsigned tries_per_yield = 64;

  unsigned tries_ = 0;
  bool said_ = false;
};

}  // namespace

/// A turn lets one thread use the communicators and messages alone. It covers calls of MPI.
class Check::Turn {
 public:
  explicit Turn(Check& check) : check_(check), first_(check.busy_ != std::this_thread::get_id()) {
    while (first_ && !take(check)) sched_yield();
  }
  ~Turn() {
    if (first_) check_.busy_.store({}, std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  /// True if no thread has had a turn; then this thread has it now, without a Turn.
  [[nodiscard]] static bool take(Check& check) {
    std::thread::id nobody{};
    return check.busy_.compare_exchange_strong(nobody, std::this_thread::get_id(), std::memory_order_acquire);
  }

 private:
  Check& check_;
  bool first_;
};

std::unique_ptr<Serving> wrap_in_check(const Wish& wish, std::unique_ptr<Serving> next) {
  const std::string value = match_setting();
  if (value != "0" && mpi::base_is_made()) {
    wish.warn("CIRCOLL_MATCH is off: calls are not compared in a program that does not call MPI_Init");
    return next;
  }
  int size = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (value != "0" && value != "1") wish.warn("CIRCOLL_MATCH: '" + value + "' is neither 0 nor 1; 0 is used");
  if (value != "1" || size < 2) return next;
  MPI_Comm messages = collecting_communicator();
  if (messages == MPI_COMM_NULL) return next;
  return std::make_unique<Check>(messages, std::move(next));
}

Check::Check(MPI_Comm messages, std::unique_ptr<Serving> next)
    : Serving(std::move(next)), shared_{.messages = CheckMessages(messages)} {
  int size = 1, error_class = MPI_ERR_OTHER;
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval_, this);
  if (PMPI_Add_error_class(&error_class) == MPI_SUCCESS && PMPI_Add_error_code(error_class, &error_) == MPI_SUCCESS) {
    constexpr const char* text = "circoll: the collective calls of the ranks do not match";
    PMPI_Add_error_string(error_class, text);
    PMPI_Add_error_string(error_, text);
  }
  std::vector<Rank> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), Rank{0});
  world_ = std::make_shared<CheckedComm>(MPI_COMM_WORLD, shared_, std::move(ranks));
  world_->open(CheckedComm::world_id);
  comms_.emplace(CheckedComm::world_id, world_);
}

// ---- communicators

std::vector<Rank> Check::comparable(MPI_Comm comm) const {
  int inter = 0, size = 0;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_size(comm, &size);
  if (inter != 0 || size < 2) return {};
  mpi::RankMap in_world;
  // Of processes of another MPI_COMM_WORLD nobody knows whether they compare.
  if (!mpi::find_world_ranks(comm, &in_world)) return {};
  std::vector<Rank> ranks(static_cast<std::size_t>(size));
  for (Rank r = 0; r < size; ++r) ranks[static_cast<std::size_t>(r)] = in_world(r);
  return ranks;
}

std::uint64_t Check::new_id() { return (static_cast<std::uint64_t>(world_rank_) << 32U) + ++ids_; }

void Check::attach(MPI_Comm comm, CommPointer checked) const {
  auto value = std::make_unique<CommPointer>(std::move(checked));
  if (PMPI_Comm_set_attr(comm, keyval_, value.get()) == MPI_SUCCESS) (void)value.release();  // forget() deletes it
}

int Check::forget(MPI_Comm comm, int /*keyval*/, void* value, void* extra) {
  const std::unique_ptr<CommPointer> held(static_cast<CommPointer*>(value));
  if (*held == nullptr) return MPI_SUCCESS;
  Check& check = *static_cast<Check*>(extra);
  // The other ranks make the same first call, so the opening ends.
  while (!mpi::library::nonblocking_outlives_communicator() && check.is_opening(*held)) check.poll();
  // No turn is taken here. The MPI library may hold its lock, for which the thread that has the turn waits. MPICH frees
  // a communicator and its attributes when the last message on it ends, in any call of any thread.
  (*held)->freed(mpi::library::is_revoked(comm));
  check.any_freed_ = true;
  return MPI_SUCCESS;
}

void Check::forget_freed() {
  if (!any_freed_.exchange(false)) return;
  for (auto it = comms_.begin(); it != comms_.end();) {
    const bool freed = it->second->is_freed();
    if (freed && it->second->is_revoked()) it->second->give_up();
    if (freed && it->second->outstanding() > 0) any_freed_ = true;
    it = freed && it->second->outstanding() == 0 ? comms_.erase(it) : std::next(it);
  }
}

bool Check::is_opening(const CommPointer& comm) {
  const Turn turn(*this);
  return std::any_of(openings_.begin(), openings_.end(), [&](const Opening& o) { return o.comm == comm; });
}

/// Begins the opening without waiting, so that all ranks begin it in the order of their calls. Another thread may end
/// it at any time, but not in this turn: a second one would be this rank's alone.
int Check::begin_open(MPI_Comm handle, const CommPointer& comm) {
  const Turn turn(*this);
  if (comm->id() || is_opening(comm)) return MPI_SUCCESS;
  Opening& opening = openings_.emplace_back(Opening{.comm = comm, .id = new_id()});
  const int error = PMPI_Ibcast(&opening.id, 1, MPI_UINT64_T, 0, handle, &opening.request);
  if (error != MPI_SUCCESS) openings_.pop_back();
  opening_ = openings_.size();
  return error;
}

void Check::open(const Opening& opening) {
  comms_.emplace(opening.id, opening.comm);
  opening.comm->open(opening.id);
  if (opening.comm->is_freed()) any_freed_ = true;
  if (const auto found = early_.find(opening.id); found != early_.end()) {
    const auto packets = std::move(found->second);
    early_.erase(found);
    for (const auto& [packet, rest] : packets) opening.comm->take(packet, rest);
  }
}

Check::CommPointer Check::find(MPI_Comm handle, int* error) {
  if (handle == MPI_COMM_NULL) return nullptr;
  if (handle == MPI_COMM_WORLD) return world_;
  void* value = nullptr;
  int known = 0;
  *error = PMPI_Comm_get_attr(handle, keyval_, static_cast<void*>(&value), &known);
  if (*error != MPI_SUCCESS) return nullptr;
  if (known != 0) return *static_cast<CommPointer*>(value);
  if (mpi::Freeing::is(handle)) return nullptr;
  std::vector<Rank> ranks = comparable(handle);
  CommPointer made = ranks.empty() ? nullptr : std::make_shared<CheckedComm>(handle, shared_, std::move(ranks));
  attach(handle, made);
  return made;
}

// ---- calls

int Check::call_errhandler(MPI_Comm comm) const {
  PMPI_Comm_call_errhandler(comm, error_);
  return error_;
}

template <typename Describe>
int Check::compare(MPI_Comm handle, Mode mode, const void* return_address, const Describe& describe) {
  int error = MPI_SUCCESS;
  const void* const caller = callers_.outside_mpi(return_address);
  const CommPointer comm = find(handle, &error);
  if (comm == nullptr) return error;
  const auto [part, record] = describe(*comm, caller);
  if (part == Participation::unknown) return MPI_SUCCESS;
  if (part == Participation::makes && !comm->id()) error = begin_open(handle, comm);
  if (error != MPI_SUCCESS) return error;
  std::shared_ptr<CheckedCall> begun;
  {
    const Turn turn(*this);
    if (mpi::library::is_revoked(handle)) comm->give_up();
    if (comm->ended()) return MPI_SUCCESS;
    if (part == Participation::refused) {
      comm->refuse();
      return MPI_SUCCESS;
    }
    begun = comm->begin(record.value(), mode == Mode::blocking);
  }
  if (mode != Mode::blocking) {
    poll();
    return MPI_SUCCESS;
  }
  wait(*comm, *begun);
  return begun->differs ? call_errhandler(comm->handle()) : MPI_SUCCESS;
}

void Check::wait(CheckedComm& comm, const CheckedCall& call) {
  constexpr unsigned polls_before_asking = 1024;
  WaitNotice patience;
  for (unsigned polls = 1;; ++polls) {
    poll();
    if (call.over.load(std::memory_order_acquire)) return;
    if (polls % polls_before_asking == 0 && mpi::library::failure_of(comm.handle()) != MPI_SUCCESS) {
      const Turn turn(*this);
      comm.give_up();
    }
    patience.wait(
        [&] { return waiting_text(comm.described(), call.number, comm.rank(), patience_s, call.record->described()); });
  }
}

void Check::advance() {
  for (auto it = openings_.begin(); it != openings_.end();) {
    int done = 0;
    const bool failed = PMPI_Test(&it->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    if (done != 0 && !failed) open(*it);
    it = done != 0 || failed ? openings_.erase(it) : std::next(it);
  }
  opening_ = openings_.size();
  shared_.messages.receive([&](const CheckPacket& packet, std::string_view rest) {
    const auto found = comms_.find(packet.comm);
    if (found == comms_.end()) {
      early_[packet.comm].emplace_back(packet, rest);
    } else {
      found->second->take(packet, rest);
    }
  });
  forget_freed();
}

int Check::admit(const mpi::Call& call, Mode mode, const void* caller) {
  const auto describe = [&](const CheckedComm& comm, const void* from) {
    const Participation part = part_of(call, comm.rank(), comm.size());
    std::optional<CheckRecord> record;
    if (part == Participation::makes) record.emplace(call, mode, comm.rank(), comm.size(), from);
    return std::pair(part, std::move(record));
  };
  const int differs = done_ ? MPI_SUCCESS : compare(call.comm, mode, caller, describe);
  return differs != MPI_SUCCESS ? differs : Serving::admit(call, mode, caller);
}

int Check::admit(const mpi::NeighborCall& call, Mode mode, const void* caller) {
  const auto describe = [&](const CheckedComm& comm, const void* from) {
    const auto neighborhood = mpi::find_neighborhood(call.comm, comm.rank(), comm.size());
    std::optional<CheckRecord> record;
    if (!neighborhood) return std::pair(Participation::refused, std::move(record));
    mpi::NeighborSides sides;
    sides.read(call, *neighborhood);
    if (sides.send.erroneous() || sides.recv.erroneous()) return std::pair(Participation::refused, std::move(record));
    record.emplace(call, *neighborhood, sides, mode, from);
    return std::pair(Participation::makes, std::move(record));
  };
  const int differs = done_ ? MPI_SUCCESS : compare(call.comm, mode, caller, describe);
  return differs != MPI_SUCCESS ? differs : Serving::admit(call, mode, caller);
}

void Check::poll() noexcept {
  Serving::poll();
  if (done_.load(std::memory_order_relaxed)) return;
  // A communicator may be freed while its number is still under way, with no call to be compared.
  if (shared_.outstanding.load(std::memory_order_relaxed) == 0 && opening_.load(std::memory_order_relaxed) == 0) return;
  if (!Turn::take(*this)) return;
  std::vector<MPI_Comm> failed;
  try {
    advance();
    failed.swap(shared_.failed);
  } catch (const std::bad_alloc&) {
    // A call that has not been compared keeps its caller waiting, and the caller reports that.
    failed.clear();
  }
  busy_.store({}, std::memory_order_release);
  for (MPI_Comm comm : failed) (void)call_errhandler(comm);
}

void Check::drain() {
  // All ranks are here: what can come has been sent, or will be by those that pass messages on.
  for (WaitNotice patience; shared_.outstanding > 0 && !patience.over();) {
    poll();
    patience.wait([] {
      return std::string(
          "circoll: CIRCOLL_MATCH: MPI_Finalize has begun, and not all ranks have called all nonblocking "
          "collectives\n");
    });
  }
}

void Check::compare_end(const void* return_address) {
  std::shared_ptr<CheckedCall> begun;
  {
    const Turn turn(*this);
    if (!world_->ended()) begun = world_->begin(CheckRecord(callers_.outside_mpi(return_address)), true);
  }
  if (begun != nullptr) {
    wait(*world_, *begun);
    if (begun->differs) {
      (void)call_errhandler(MPI_COMM_WORLD);
    } else {
      drain();
    }
  }
  const Turn turn(*this);
  for (WaitNotice patience; !shared_.messages.all_sent() && !patience.over();)
    patience.wait([] { return std::string(); });
  if (begun != nullptr && !begun->differs && !world_->ended()) shared_.messages.close();
}

void Check::finish(const void* caller) noexcept {
  try {
    if (!done_) compare_end(caller);
  } catch (...) {
    // The program ends anyway.
    done_ = true;
  }
  done_ = true;
  Serving::finish(caller);
}

}  // namespace circoll::interpose
