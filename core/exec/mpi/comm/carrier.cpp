#include "exec/mpi/comm/carrier.hpp"

#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/comm/placement.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"
#include "exec/mpi/library/private_communicators.hpp"

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

}  // namespace circoll::mpi
