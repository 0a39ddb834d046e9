#include "exec/mpi/comm/carrier.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <new>

#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"
#include "facts/environment.hpp"

namespace circoll::mpi {

Globals& globals() {
  static auto* const instance = new Globals;
  return *instance;
}

void reset_globals() {
  Globals& global = globals();
  const std::lock_guard lock(global.comm_mutex);
  for (int* const keyval : {&global.comm_keyval, &global.finalize_keyval}) {
    if (*keyval != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(keyval);
  }
  global.keyvals_made = false;
  global.world.reset();
  global.expects_devices = false;
  global.part_bytes = 0;
  global.finalizing = false;
  ++global.generation;
}

void at_finalize(void (*close)() noexcept) {
  const std::lock_guard lock(globals().comm_mutex);
  globals().closers.push_back(close);
}

const TagLayout& tag_layout() {
  static const TagLayout layout = TagLayout::of(largest_tag());
  return layout;
}

Carrier::Carrier(MPI_Comm comm)
    : comm_(comm),
      layout_(tag_layout()),
      tags_(static_cast<int>((std::int64_t{largest_tag()} + 1) / layout_.unit) - 1) {}

Carrier::~Carrier() { close(); }

void Carrier::close() {
  if (comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
}

int share_world() {
  Globals& global = globals();
  int size = 1, rank = 0;
  PMPI_Comm_size(base_world(), &size);
  PMPI_Comm_rank(base_world(), &rank);
  MPI_Comm comm = MPI_COMM_NULL;
  int mine = private_duplicate(base_world(), &comm) == MPI_SUCCESS ? 1 : 0;
  int all = 0;
  int rc = PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, base_world());
  std::vector<RankLocation> ranks;
  if (rc == MPI_SUCCESS && all != 0) rc = gather_locations(comm, rank, size, &ranks);
  if (rc != MPI_SUCCESS || all == 0) {
    if (comm != MPI_COMM_NULL) PMPI_Comm_free(&comm);
    return rc;
  }
  global.world = std::make_shared<Carrier>(comm);
  // All ranks take the first tags alike. So MPI_COMM_WORLD's calls need no agreement.
  (void)global.world->tags().take(TagLayout::context_units);
  global.world->placement_ = shared_placement(placement_from(ranks));
  if (environment("CIRCOLL_TOPOLOGY").value_or("off") != "off")
    global.world->topology_ = topology_text(ranks, global.world->placement_);
  global.world->topology_complaint_ = topology_complaint(ranks, rank);
  if (size > 1) rc = global.world->find_node_peers(rank, ranks);
  // This makes the communicator while communicators are plenty and before there are threads. Threads of Open MPI hang
  // if they make communicators at once.
  (void)self_communicator();
  return rc;
}

const std::shared_ptr<Carrier>& shared_world() { return globals().world; }

TagLayout TagLayout::of(int largest_tag) {
  // MPICH has 2^28 tags and 2048 communicators, Open MPI 2^31 tags and 65536 communicators.
  constexpr std::uint32_t contexts = 4096;
  const std::uint32_t tags = static_cast<std::uint32_t>(largest_tag) + 1;
  const std::uint32_t unit = std::bit_floor(tags / contexts / context_units);
  return {.unit = static_cast<int>(std::clamp<std::uint32_t>(unit, 4, 256))};
}

int TagLayout::units_for(int tags) const { return std::clamp((tags + unit - 1) / unit, 1, epochs); }

TagSpace::TagSpace(int units) : units_(units), free_units_(units) { free_.emplace(0, units); }

int TagSpace::take(int units, int spare) {
  const std::lock_guard lock(mutex_);
  if (free_units_ - units < spare) return -1;
  const auto found = std::find_if(free_.begin(), free_.end(), [&](const auto& range) { return range.second >= units; });
  if (found == free_.end()) return -1;
  const auto [first, length] = *found;
  if (length > units) free_.emplace_hint(found, first + units, length - units);
  free_.erase(first);
  free_units_ -= units;
  return first;
}

void TagSpace::give_back(int first, int units) noexcept {
  const std::lock_guard lock(mutex_);
  free_units_ += units;
  auto next = free_.lower_bound(first);
  int length = units;
  if (next != free_.end() && next->first == first + units) {
    length += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == first) {
      before->second += length;
      return;
    }
  }
  try {
    free_.emplace_hint(next, first, length);
  } catch (const std::bad_alloc&) {
    free_units_ -= length;  // the range is lost
  }
}

int TagSpace::free_units() const {
  const std::lock_guard lock(mutex_);
  return free_units_;
}

void TagRange::take(std::shared_ptr<Carrier> carrier, int units, int spare) {
  // Tags may be left from an agreement that could not begin.
  if (first_unit_ >= 0) carrier_->tags().give_back(first_unit_, units_);
  carrier_ = std::move(carrier);
  first_unit_ = carrier_->tags().take(units, spare);
  units_ = units;
  id_ = ++globals().ranges;
  own_ = first_unit_ < 0 ? -1 : first_unit_ * carrier_->layout().unit;
}

void TagRange::take_first(std::shared_ptr<Carrier> carrier, int units) {
  carrier_ = std::move(carrier);
  first_unit_ = own_ = 0;
  units_ = units;
  id_ = ++globals().ranges;
  agreed_ = true;
}

int TagRange::agree(MPI_Comm comm, int size) {
  others_.resize(static_cast<std::size_t>(size));
  const int rc = PMPI_Allgather(&own_, 1, MPI_INT, others_.data(), 1, MPI_INT, comm);
  if (rc == MPI_SUCCESS) compare();
  return rc;
}

int TagRange::begin(MPI_Comm comm, int size) {
  others_.resize(static_cast<std::size_t>(size));
  return PMPI_Iallgather(&own_, 1, MPI_INT, others_.data(), 1, MPI_INT, comm, &request_);
}

bool TagRange::settle() {
  int completed = 0;
  const int rc = PMPI_Test(&request_, &completed, MPI_STATUS_IGNORE);
  if (rc != MPI_SUCCESS) {
    request_ = MPI_REQUEST_NULL;
    return true;
  }
  if (completed != 0) compare();
  return completed != 0;
}

void TagRange::compare() {
  agreed_ = std::find(others_.begin(), others_.end(), -1) == others_.end();
  if (std::all_of(others_.begin(), others_.end(), [&](int first) { return first == own_; })) others_ = {};
  others_.shrink_to_fit();
}

void TagRange::give_back() noexcept {
  // An operation that was given up may have left its agreement under way. The other ranks make the same call, so it
  // ends.
  while (request_ != MPI_REQUEST_NULL && !settle()) sched_yield();
  if (first_unit_ >= 0 && !spoiled_) carrier_->tags().give_back(first_unit_, units_);
  first_unit_ = -1;
  others_ = {};
  agreed_ = false;
  carrier_.reset();
}

}  // namespace circoll::mpi
