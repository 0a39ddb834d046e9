#include "exec/mpi/carrier.hpp"

#include "exec/mpi/globals.hpp"
#include "exec/mpi/placement.hpp"
#include "exec/mpi/plans.hpp"

namespace circoll::mpi {
namespace {

/// Whether threads may make communicators of different groups at the same time. Open MPI's hang then, so that ours are
/// made before there are threads.
#ifdef OPEN_MPI
constexpr bool makes_communicators_in_threads = false;
#else
constexpr bool makes_communicators_in_threads = true;
#endif

}  // namespace

int private_duplicate(MPI_Comm comm, MPI_Comm* made) {
  // A failure (no context id is left, say) is ours to handle, not the user's error handler's.
  MPI_Errhandler users = MPI_ERRHANDLER_NULL;
  int rc = PMPI_Comm_get_errhandler(comm, &users);
  if (rc != MPI_SUCCESS) return rc;
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Group group = MPI_GROUP_NULL;
  rc = PMPI_Comm_group(comm, &group);
  if (rc == MPI_SUCCESS) {
    rc = PMPI_Comm_create(comm, group, made);
    PMPI_Group_free(&group);
  }
  PMPI_Comm_set_errhandler(comm, users);
  PMPI_Errhandler_free(&users);
  if (rc != MPI_SUCCESS) {
    *made = MPI_COMM_NULL;
    return rc;
  }
  PMPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
  return PMPI_Comm_set_name(*made, "circoll");
}

const TagLayout& tag_layout() {
  static const TagLayout layout = TagLayout::of(largest_tag());
  return layout;
}

Carrier::Carrier(MPI_Comm comm)
    : comm_(comm), layout_(tag_layout()), tags_(static_cast<int>((std::int64_t{largest_tag()} + 1) / layout_.unit)) {}

Carrier::~Carrier() { close(); }

void Carrier::close() {
  if (comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
}

int share_world() {
  Globals& global = globals();
  int size = 1, rank = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm comm = MPI_COMM_NULL;
  int mine = private_duplicate(MPI_COMM_WORLD, &comm) == MPI_SUCCESS ? 1 : 0;
  int all = 0;
  int rc = PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  std::vector<Rank> nodes;
  if (rc == MPI_SUCCESS && all != 0) rc = find_nodes(comm, rank, size, &nodes);
  if (rc != MPI_SUCCESS || all == 0) {
    if (comm != MPI_COMM_NULL) PMPI_Comm_free(&comm);
    return rc;
  }
  global.world = std::make_shared<Carrier>(comm);
  global.world->placement_ = shared_placement(placement_of(nodes));
  global.world->nodes_ = std::move(nodes);
  if (!makes_communicators_in_threads) (void)self_communicator();
  return MPI_SUCCESS;
}

const std::shared_ptr<Carrier>& shared_world() { return globals().world; }

}  // namespace circoll::mpi
