// Communicators of a case, and the errors that are heard on them.
#include "communicators.hpp"

#include <array>
#include <atomic>
#include <vector>

#include "random.hpp"

namespace circoll::torture {
namespace {

std::atomic<long> stray{0}, expected{0};

/// The error that the handler was called for, in this thread, since the next call was said to be erroneous.
thread_local int heard = MPI_SUCCESS;

// NOLINTNEXTLINE(cert-dcl50-cpp,readability-non-const-parameter): as MPI wants it
void count_error(MPI_Comm* /*comm*/, int* error, ...) {
  ++stray;
  heard = *error;
}

/// About two thirds of the ranks, in the other order; null if this one is not among them.
MPI_Group group_of(const CommSpec& spec, const Communicator& parent) {
  std::vector<int> members;
  for (int r = parent.size; r-- > 0;) {
    if (hash(spec.seed, r) % 3 != 0) members.push_back(r);
  }
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  MPI_Comm_group(parent.comm, &all);
  MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &some);
  MPI_Group_free(&all);
  int rank = MPI_UNDEFINED;
  MPI_Group_rank(some, &rank);
  if (rank == MPI_UNDEFINED) MPI_Group_free(&some);
  return some;
}

/// Threads that make groups of one communicator at the same time have tags of their own. Messages have other tags, too,
/// because Open MPI 4.1 does not tell one from the other. The tags of a thread ascend. An Open MPI lets the group of
/// the lowest tag in a process come first, and ranks whose threads make them in other orders would wait for one another
/// forever (library_faults.c, groups_of_threads).
int tag_of(const CommSpec& spec) {
  constexpr int first = 20000, tags = 1000;
  return first + spec.lane * tags + spec.turn;
}

MPI_Comm make(const CommSpec& spec, const Communicator& parent) {
  MPI_Comm made = MPI_COMM_NULL;
  switch (spec.kind) {
    case CommKind::world:
      return MPI_COMM_WORLD;
    case CommKind::self:
      return MPI_COMM_SELF;
    case CommKind::dup:
      MPI_Comm_dup(parent.comm, &made);
      break;
    case CommKind::split: {
      const auto draw = hash(spec.seed, parent.rank);
      const int color = draw % 5 == 0 ? MPI_UNDEFINED : static_cast<int>(draw % 2);
      MPI_Comm_split(parent.comm, color, static_cast<int>(draw / 8 % 4), &made);
      break;
    }
    case CommKind::reversed:
      MPI_Comm_split(parent.comm, 0, -parent.rank, &made);
      break;
    case CommKind::cart: {
      std::array<int, 2> dims{0, 0};
      const std::array<int, 2> periods{1, 0};
      PMPI_Dims_create(parent.size, 2, dims.data());
      MPI_Cart_create(parent.comm, 2, dims.data(), periods.data(), static_cast<int>(spec.seed % 2), &made);
      break;
    }
    case CommKind::group: {
      MPI_Group group = group_of(spec, parent);
      if (group == MPI_GROUP_NULL) break;
      MPI_Comm_create_group(parent.comm, group, tag_of(spec), &made);
      MPI_Group_free(&group);
      break;
    }
    case CommKind::grid: {
      const Grid grid = grid_of(spec, parent.size);
      MPI_Cart_create(parent.comm, static_cast<int>(grid.dims.size()), grid.dims.data(), grid.periods.data(), 0, &made);
      break;
    }
    case CommKind::graph: {
      const Edges mine = (*topology_of(spec, parent.size))[static_cast<std::size_t>(parent.rank)];
      std::vector<int> sources;
      for (const Edges::In& edge : mine.in) sources.push_back(edge.source);
      MPI_Dist_graph_create_adjacent(parent.comm, static_cast<int>(sources.size()), sources.data(), MPI_UNWEIGHTED,
                                     static_cast<int>(mine.out.size()), mine.out.data(), MPI_UNWEIGHTED, MPI_INFO_NULL,
                                     0, &made);
      break;
    }
    case CommKind::alone:
      if (hash(spec.seed, parent.rank) % 2 == 0) MPI_Comm_dup(MPI_COMM_SELF, &made);
      break;
  }
  return made;
}

}  // namespace

Communicator make_communicator(const CommSpec& spec, const Communicator& parent) {
  Communicator made;
  const bool root = spec.kind == CommKind::world || spec.kind == CommKind::self;
  if (!root && !parent.member()) return made;
  made.comm = make(spec, parent);
  if (made.comm == MPI_COMM_NULL) return made;
  if (!root) PMPI_Comm_set_errhandler(made.comm, MPI_ERRORS_RETURN);
  PMPI_Comm_rank(made.comm, &made.rank);
  PMPI_Comm_size(made.comm, &made.size);
  made.topology = topology_of(spec, parent.size);
  if (spec.bare) return made;
  if (spec.in_lane) {
    MPI_Group group = group_of(spec, parent);
    PMPI_Comm_create_group(parent.comm, group, tag_of(spec), &made.oracle);
    MPI_Group_free(&group);
  } else {
    PMPI_Comm_dup(made.comm, &made.oracle);
  }
  PMPI_Comm_set_errhandler(made.oracle, MPI_ERRORS_RETURN);
  return made;
}

void free_oracle(Communicator& communicator) {
  if (communicator.oracle != MPI_COMM_NULL) PMPI_Comm_free(&communicator.oracle);
}

void count_stray_errors() {
  MPI_Errhandler counting = MPI_ERRHANDLER_NULL;
  PMPI_Comm_create_errhandler(count_error, &counting);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
  PMPI_Comm_set_errhandler(MPI_COMM_SELF, counting);
  PMPI_Errhandler_free(&counting);
}

void expect_error(MPI_Comm comm) {
  heard = MPI_SUCCESS;
  if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF) ++expected;
}

int error_heard() { return heard; }

int error_class(int rc) {
  int result = MPI_SUCCESS;
  PMPI_Error_class(rc, &result);
  return result;
}

long stray_errors() { return stray - expected; }

}  // namespace circoll::torture
