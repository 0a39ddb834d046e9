#include "exec/mpi/comm/communicator.hpp"

#include <sched.h>

#include <algorithm>
#include <new>
#include <utility>

#include "exec/device/runtimes.hpp"
#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "exec/mpi/comm/stalls.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {
namespace {

/// Units that stay free for nonblocking operations. Their agreement must not fail, because the native call is not
/// possible any more then.
int spare_units(Carrier& carrier) { return carrier.tags().units() / 8; }

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

int CommState::look_at(MPI_Comm comm) {
  int inter = 0, size = 1, rank = 0;
  int rc = PMPI_Comm_test_inter(comm, &inter);
  if (rc == MPI_SUCCESS) rc = PMPI_Comm_size(comm, &size);
  if (rc == MPI_SUCCESS) rc = PMPI_Comm_rank(comm, &rank);
  if (rc != MPI_SUCCESS) return rc;
  user_comm_ = comm;
  size_ = size;
  rank_ = rank;
  usable_ = inter == 0;
  if (!usable_) return MPI_SUCCESS;
  if (size == 1 && globals().serve_after > 0) refuse("a communicator of one rank");
  const int serve_after = globals().serve_after;
  if (comm == MPI_COMM_WORLD || serve_after == 0) return find_places();
  left_native_.fill(static_cast<std::uint16_t>(serve_after));
  return MPI_SUCCESS;
}

int CommState::find_places() {
  if (std::exchange(has_places_, true)) return MPI_SUCCESS;
  MPI_Comm comm = user_comm_;
  const int size = static_cast<int>(size_);
  const std::shared_ptr<Carrier>& world = shared_world();
  expects_devices_ = globals().expects_devices;
  // A single rank has nobody to agree with, and may look at any time.
  if (world == nullptr && size == 1) expects_devices_ = device::expected_by_user() != device::Expected::never;
  if (!usable_ || size == 1) return MPI_SUCCESS;
  if (world == nullptr && !globals().own_world_only) return MPI_SUCCESS;
  if (!find_world_ranks(comm, size, &ranks_)) {
    refuse("ranks of another MPI_COMM_WORLD");
  } else if (world != nullptr) {
    carrier_ = world;
    placement_ = placement_in_world(world->placement(), ranks_, size);
    if (comm == MPI_COMM_WORLD) {
      range_.take_first(carrier_, TagLayout::context_units);
      tags_ = Tags::open;
    }
  } else {
    ranks_ = {};
  }
  return MPI_SUCCESS;
}

bool CommState::pays(Collective collective, bool has_request, int* error) {
  *error = MPI_SUCCESS;
  if (left_native_[static_cast<std::size_t>(collective)] > 0 && !has_request) return false;
  *error = find_places();
  return true;
}

void CommState::refuse(std::string_view reason) {
  unusable_reason_ = reason;
  usable_ = false;
}

void CommState::fail(int error) {
  int none = MPI_SUCCESS;
  if (failure_.compare_exchange_strong(none, error) && usable_)
    refuse("the communicator is revoked, or a process of it has failed");
}

int CommState::find_failure() {
  if (!library::tells_failures) return MPI_SUCCESS;
  // An unusable communicator has failed already, or MPI_Finalize has begun, after which MPI must not be asked.
  if (usable_ && !asking_.exchange(true)) {
    if (const int error = library::failure_of(user_comm_); error != MPI_SUCCESS) fail(error);
    asking_ = false;
  }
  return failure_;
}

MPI_Comm CommState::completions() {
  if (size_ == 1 || !library::outlives_failures()) return self_communicator();
  if (completions_ == MPI_COMM_NULL) {
    MPI_Comm made = MPI_COMM_NULL;
    if (private_duplicate(base_self(), &made) != MPI_SUCCESS) return self_communicator();
    completions_ = made;
  }
  return completions_;
}

int CommState::make_carrier() {
  // The ranks must agree on both answers. Otherwise they would have different communicators.
  const std::array<int, 2> answers{globals().private_comms < library::most_private_communicators ? 1 : 0,
                                   device::expected_runtimes() != 0 ? 0 : 1};
  std::array<int, 2> of_all{};
  int rc =
      PMPI_Allreduce(answers.data(), of_all.data(), static_cast<int>(answers.size()), MPI_INT, MPI_MIN, user_comm_);
  if (rc != MPI_SUCCESS) return rc;
  if (of_all[0] == 0) {
    refuse("too many communicators are in use");
    return MPI_SUCCESS;
  }
  expects_devices_ = of_all[1] == 0;
  MPI_Comm made = MPI_COMM_NULL;
  const int mine = private_duplicate(user_comm_, &made) == MPI_SUCCESS ? 1 : 0;
  if (mine != 0) {
    carrier_ = std::make_shared<Carrier>(made);
    owns_carrier_ = true;
    ++globals().private_comms;
  }
  int all = 0;
  rc = PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, user_comm_);
  if (rc != MPI_SUCCESS) return rc;
  if (all == 0) {
    refuse("MPI could not make a private communicator");
    return MPI_SUCCESS;
  }
  // Nobody else uses this carrier, so all ranks take the same tags of it.
  range_.take(carrier_, TagLayout::context_units);
  range_.set_agreed();
  tags_ = Tags::open;
  std::vector<RankLocation> ranks;
  rc = gather_locations(carrier_->comm(), static_cast<int>(rank_), static_cast<int>(size_), &ranks);
  if (rc != MPI_SUCCESS) return rc;
  placement_ = shared_placement(placement_from(ranks));
  return carrier_->find_neighbours(static_cast<int>(rank_), ranks);
}

bool CommState::serves_nonblocking() const {
  if (size_ == 1) return true;
  return carrier_ != nullptr && (tags_ != Tags::none || tag_layout().is_plentiful(largest_tag()));
}

int CommState::begin_open() {
  if (tags_ != Tags::none) return MPI_SUCCESS;
  if (size_ == 1) {
    tags_ = Tags::open;
    return MPI_SUCCESS;
  }
  range_.take(carrier_, TagLayout::context_units);
  const int rc = range_.begin(user_comm_, static_cast<int>(size_));
  if (rc == MPI_SUCCESS) tags_ = Tags::agreeing;
  return rc;
}

int CommState::open() {
  if (tags_ == Tags::open) return MPI_SUCCESS;
  if (tags_ == Tags::none && size_ > 1) {
    range_.take(carrier_, TagLayout::context_units, spare_units(*carrier_));
    if (const int rc = range_.agree(user_comm_, static_cast<int>(size_)); rc != MPI_SUCCESS) return rc;
    settle();
    return MPI_SUCCESS;
  }
  if (const int rc = begin_open(); rc != MPI_SUCCESS) return rc;
  while (!opened()) sched_yield();
  return MPI_SUCCESS;
}

bool CommState::opened() {
  if (tags_ == Tags::open) return true;
  const std::unique_lock lock(opening_lock_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  if (tags_ != Tags::agreeing) return tags_ == Tags::open;
  if (!range_.settle()) return false;
  settle();
  return true;
}

void CommState::settle() {
  if (!range_.agreed() && find_failure() == MPI_SUCCESS) refuse("no tags are left for the communicator");
  tags_ = Tags::open;
}

Route CommState::route_of(const TagRange& range, int tags) const {
  return {.comm = range.comm(),
          .ranks = &ranks_,
          .range = &range,
          .span = static_cast<std::uint32_t>(tags),
          .neighbours = range.neighbours()};
}

Route CommState::route(Collective collective) const {
  Route route = route_of(range_, tag_layout().most_tags());
  route.offset = static_cast<int>(collective) * tag_layout().blocking_stride();
  route.interruption = interruption_;
  route.stalls_on = stalls_here();
  if (library::tells_failures && interruption_ == nullptr) route.asked = user_comm_;
  return route;
}

std::unique_ptr<CommState> CommState::offer() const {
  std::unique_ptr<CommState> state(new CommState);
  state->user_comm_ = user_comm_;
  state->carrier_ = carrier_;
  state->range_.take(carrier_, TagLayout::context_units);
  state->tags_ = Tags::agreeing;
  return state;
}

void CommState::settle_among(const CommState& all, const std::vector<int>& members, std::vector<int> tags) {
  std::vector<int> in_world;
  for (std::size_t i = 0; i < members.size(); ++i) {
    in_world.push_back(all.world_rank(members[i]));
    if (members[i] == all.rank_) rank_ = static_cast<Rank>(i);
  }
  size_ = static_cast<Rank>(members.size());
  ranks_ = RankMap(std::move(in_world));
  range_.set_agreed(std::move(tags));
  placement_ = placement_in_world(carrier_->placement(), ranks_, size_);
  interruption_ = all.interruption_;
  tags_ = Tags::open;
  usable_ = true;
}

Route CommState::route_in(const CommState& all, const TagRange& range) {
  Route route = all.route_of(range, tag_layout().most_tags());
  route.interruption = all.interruption_;
  return route;
}

std::uint64_t CommState::take_numbers(int units) {
  constexpr std::uint64_t epochs = TagLayout::epochs;
  const auto wanted = static_cast<std::uint64_t>(units);
  const std::uint64_t place = next_number_ % epochs;
  if (place + wanted > epochs) next_number_ += epochs - place;
  const std::uint64_t number = next_number_;
  next_number_ += wanted;
  return number;
}

Route CommState::route(std::uint64_t number, int units) const {
  const TagLayout& layout = tag_layout();
  Route route = route_of(range_, units * layout.unit);
  route.offset = layout.blocking_tags() + static_cast<int>(number % TagLayout::epochs) * layout.unit;
  route.stalls_on = stalls_here();
  return route;
}

bool CommState::may_start(std::uint64_t number, int units) {
  if (!opened()) return false;
  if (unfinished_count_ == 0) return true;
  const std::lock_guard lock(unfinished_lock_);
  return unfinished_.empty() || number + static_cast<std::uint64_t>(units) <= unfinished_.front() + TagLayout::epochs;
}

void CommState::add_unfinished(std::uint64_t number) {
  const std::lock_guard lock(unfinished_lock_);
  unfinished_.push_back(number);
  unfinished_count_ = unfinished_.size();
}

void CommState::remove_unfinished(std::uint64_t number) {
  const std::lock_guard lock(unfinished_lock_);
  const auto place = std::lower_bound(unfinished_.begin(), unfinished_.end(), number);
  if (place != unfinished_.end() && *place == number) unfinished_.erase(place);
  unfinished_count_ = unfinished_.size();
}

int CommState::reserve(int units, TagRange* range) {
  if (size_ == 1) {
    range->set_agreed();
    return MPI_SUCCESS;
  }
  range->take(carrier_, units, spare_units(*carrier_));
  return range->agree(user_comm_, static_cast<int>(size_));
}

Route CommState::route(const TagRange& range, int units) const { return route_of(range, units * tag_layout().unit); }

void CommState::retire_tags() {
  if (tags_ != Tags::none) range_.retire();
}

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
