// The places, the carrier and the tags of a communicator. Its state begins and ends in communicator_life.cpp.
#include "exec/mpi/comm/communicator.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "exec/device/runtimes.hpp"
#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {
namespace {

/// Units that stay free for nonblocking operations. Their agreement must not fail, because the native call is not
/// possible any more then.
int spare_units(Carrier& carrier) { return carrier.tags().units() / 8; }

}  // namespace

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
  if (!find_world_ranks(comm, &ranks_)) {
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

int CommState::make_private(MPI_Comm* made, int* answer, std::string_view* why_not) const {
  // The ranks must agree on both answers. Otherwise they would have different communicators.
  const std::array<int, 2> answers{globals().private_comms < library::most_private_communicators ? 1 : 0, *answer};
  std::array<int, 2> of_all{};
  *made = MPI_COMM_NULL;
  int rc =
      PMPI_Allreduce(answers.data(), of_all.data(), static_cast<int>(answers.size()), MPI_INT, MPI_MIN, user_comm_);
  if (rc != MPI_SUCCESS) return rc;
  *answer = of_all[1];
  *why_not = "too many communicators are in use";
  if (of_all[0] == 0) return MPI_SUCCESS;
  MPI_Comm mine = MPI_COMM_NULL;
  const int has_one = private_duplicate(user_comm_, &mine) == MPI_SUCCESS ? 1 : 0;
  globals().private_comms += has_one;
  int all = 0;
  rc = PMPI_Allreduce(&has_one, &all, 1, MPI_INT, MPI_MIN, user_comm_);
  if (rc == MPI_SUCCESS && all != 0) *made = mine;
  *why_not = "MPI could not make a private communicator";
  if (*made == MPI_COMM_NULL && has_one != 0) free_private(&mine);
  return rc;
}

void CommState::free_private(MPI_Comm* made) noexcept {
  PMPI_Comm_free(made);
  --globals().private_comms;
}

int CommState::make_carrier() {
  int host_only = device::expected_runtimes() != 0 ? 0 : 1;
  MPI_Comm made = MPI_COMM_NULL;
  std::string_view why_not;
  int rc = make_private(&made, &host_only, &why_not);
  if (rc != MPI_SUCCESS) return rc;
  if (made == MPI_COMM_NULL) {
    refuse(why_not);
    return MPI_SUCCESS;
  }
  expects_devices_ = host_only == 0;
  carrier_ = std::make_shared<Carrier>(made);
  owns_carrier_ = true;
  // Nobody else uses this carrier, so all ranks take the same tags of it.
  range_.take(carrier_, TagLayout::context_units);
  range_.set_agreed();
  tags_ = Tags::open;
  std::vector<RankLocation> ranks;
  rc = gather_locations(carrier_->comm(), static_cast<int>(rank_), static_cast<int>(size_), &ranks);
  if (rc != MPI_SUCCESS) return rc;
  placement_ = shared_placement(placement_from(ranks));
  return carrier_->find_node_peers(static_cast<int>(rank_), ranks);
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
          .node_peers = range.node_peers()};
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

}  // namespace circoll::mpi
