#include "exec/mpi/comm/carrier.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>

#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {

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
  std::vector<Whereabouts> ranks;
  if (rc == MPI_SUCCESS && all != 0) rc = gather_whereabouts(comm, rank, size, &ranks);
  if (rc != MPI_SUCCESS || all == 0) {
    if (comm != MPI_COMM_NULL) PMPI_Comm_free(&comm);
    return rc;
  }
  global.world = std::make_shared<Carrier>(comm);
  // The first tags, on all ranks alike: MPI_COMM_WORLD's calls need no agreement.
  (void)global.world->tags().take(TagLayout::context_units);
  global.world->placement_ = shared_placement(placement_from(ranks));
  if (size > 1) rc = global.world->find_neighbours(rank, ranks);
  // While communicators are plenty, and before there are threads: Open MPI's hang if they make communicators at once.
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
  const auto next = free_.lower_bound(first);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == first) {
      before->second += units;
      if (next != free_.end() && next->first == first + units) {
        before->second += next->second;
        free_.erase(next);
      }
      return;
    }
  }
  try {
    int length = units;
    if (next != free_.end() && next->first == first + units) {
      length += next->second;
      free_.erase(next);
    }
    free_.emplace(first, length);
  } catch (const std::bad_alloc&) {
    free_units_ -= units;  // the range is lost
  }
}

int TagSpace::free_units() const {
  const std::lock_guard lock(mutex_);
  return free_units_;
}

}  // namespace circoll::mpi
