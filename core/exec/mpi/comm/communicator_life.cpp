// The life of a communicator's state: found or made as an attribute, kept by operations, closed and deleted.
#include <sched.h>

#include <array>
#include <utility>

#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/comm/stalls.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {
namespace {

/// The states of the communicators that a thread used last: programs use a few in turn.
class Memo {
 public:
  [[nodiscard]] CommState* find(MPI_Comm comm) const {
    for (const Entry& entry : entries_) {
      if (entry.comm == comm && entry.generation == globals().generation.load()) return entry.state;
    }
    return nullptr;
  }
  /// Replaces the oldest entry. The communicator must not be in the memo.
  void add(MPI_Comm comm, CommState* state) {
    entries_[oldest_] = {comm, globals().generation.load(), state};
    oldest_ = (oldest_ + 1) % entries_.size();
  }

 private:
  struct Entry {
    MPI_Comm comm = MPI_COMM_NULL;
    std::uint64_t generation = 0;
    CommState* state = nullptr;
  };
  std::array<Entry, 4> entries_{};
  std::size_t oldest_ = 0;
};
CIRCOLL_THREAD_LOCAL Memo memo;
/// The last communicator whose state was deleted. MPI may be just freeing it, and a callback of an attribute may use
/// it.
CIRCOLL_THREAD_LOCAL MPI_Comm last_forgotten = MPI_COMM_NULL;

CIRCOLL_THREAD_LOCAL MPI_Comm being_freed = MPI_COMM_NULL;

}  // namespace

Freeing::Freeing(MPI_Comm comm) : before_(std::exchange(being_freed, comm)) {}

Freeing::~Freeing() { being_freed = before_; }

bool Freeing::is(MPI_Comm comm) { return comm == being_freed; }

CommState::~CommState() { close(); }

void CommState::release() {
  if (--users_ > 0) return;
  // The object is deleted later, because this may run inside the MPI library's progress engine.
  Globals& global = globals();
  const std::lock_guard lock(global.released_mutex);
  next_released_ = global.released.exchange(this);
}

void CommState::bury_released() {
  Globals& global = globals();
  if (global.released == nullptr) return;
  CommState* first = nullptr;
  {
    const std::lock_guard lock(global.released_mutex);
    first = global.released.exchange(nullptr);
  }
  while (first != nullptr) delete std::exchange(first, first->next_released_);
}

void CommState::close() {
  usable_ = false;
  for (const std::unique_ptr<Attachment>& attachment : attachments_) {
    if (attachment != nullptr) attachment->clear();
  }
  range_.give_back();
  if (owns_carrier_) {
    carrier_->close();
    --globals().private_comms;
  }
  owns_carrier_ = false;
  carrier_.reset();
  if (MPI_Comm completions = completions_.exchange(MPI_COMM_NULL); completions != MPI_COMM_NULL)
    PMPI_Comm_free(&completions);
}

int CommState::forget(MPI_Comm comm, int /*keyval*/, void* value, void* /*extra*/) {
  Globals& global = globals();
  last_forgotten = comm;
  auto* const state = static_cast<CommState*>(value);
  // The other ranks make the same first call, so the agreement ends.
  while (!library::nonblocking_outlives_communicator() && state->tags_ == Tags::agreeing && !state->opened())
    sched_yield();
  {
    const std::lock_guard lock(global.comm_mutex);
    ++global.generation;
    if (state->position_ != global.states.end()) global.states.erase(state->position_);
    state->position_ = global.states.end();
  }
  if (library::tells_failures) {
    // A thread that polls may be asking MPI about the communicator. From now on none does.
    while (state->asking_.exchange(true)) sched_yield();
    // Other ranks may have sent messages in calls that this rank has not made.
    const bool failed = state->usable() ? library::failure_of(comm) != MPI_SUCCESS : state->failure() != MPI_SUCCESS;
    if (failed) state->retire_tags();
  }
  state->user_comm_ = base_world();
  state->release();
  bury_released();
  return MPI_SUCCESS;
}

int CommState::finalize(MPI_Comm /*comm*/, int /*keyval*/, void* /*value*/, void* /*extra*/) {
  // MPI deletes the attributes of MPI_COMM_SELF first in MPI_Finalize, while everything still works.
  stalls().linger();
  bury_released();
  Globals& global = globals();
  const std::lock_guard lock(global.comm_mutex);
  global.finalizing = true;
  ++global.generation;
  for (CommState* state : global.states) state->close();
  for (const auto close : global.closers) close();
  if (global.world != nullptr) global.world->close();
  free_self_communicator();
  return MPI_SUCCESS;
}

int CommState::create_keyvals() {
  Globals& global = globals();
  if (global.comm_keyval != MPI_KEYVAL_INVALID) return MPI_SUCCESS;
  int rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &global.comm_keyval, nullptr);
  if (rc == MPI_SUCCESS)
    rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize, &global.finalize_keyval, nullptr);
  if (rc == MPI_SUCCESS) rc = PMPI_Comm_set_attr(base_self(), global.finalize_keyval, &global);
  return rc;
}

CommState* CommState::last_used(MPI_Comm comm) { return memo.find(comm); }

CommState* CommState::of(MPI_Comm comm, int* error) {
  CommState* const state = of_call(comm, error);
  if (state != nullptr) *error = state->find_places();
  return *error == MPI_SUCCESS ? state : nullptr;
}

CommState* CommState::of_call(MPI_Comm comm, int* error) {
  *error = MPI_SUCCESS;
  if (CommState* const known = last_used(comm)) return known;
  Globals& global = globals();
  if (global.finalizing) return nullptr;
  CommState* state = nullptr;
  if (!global.keyvals_made) {
    const std::lock_guard lock(global.comm_mutex);
    *error = create_keyvals();
    if (*error != MPI_SUCCESS) return nullptr;
    global.keyvals_made = true;
  }
  void* known = nullptr;
  int found = 0;
  *error = PMPI_Comm_get_attr(comm, global.comm_keyval, &known, &found);
  if (*error != MPI_SUCCESS) return nullptr;
  state = static_cast<CommState*>(known);
  if (found == 0 && Freeing::is(comm)) return nullptr;
  if (found == 0) {
    std::unique_ptr<CommState> made(new CommState);
    *error = made->look_at(comm);
    if (*error != MPI_SUCCESS) return nullptr;
    {
      const std::lock_guard lock(global.comm_mutex);
      made->position_ = global.states.insert(global.states.end(), made.get());
    }
    // This runs without the lock, because forget() takes the lock where the MPI library holds its own.
    *error = PMPI_Comm_set_attr(comm, global.comm_keyval, made.get());
    if (*error != MPI_SUCCESS) {
      const std::lock_guard lock(global.comm_mutex);
      global.states.erase(made->position_);
      return nullptr;
    }
    state = made.release();
  }
  // MPI does not delete an attribute that is attached to a communicator while MPI frees it. Another communicator may
  // get its handle, and must be asked for its state each time.
  if (comm != last_forgotten) memo.add(comm, state);
  return state;
}

}  // namespace circoll::mpi
