#include "exec/mpi/comm/world_ranks.hpp"

#include <algorithm>
#include <numeric>

#include "exec/mpi/library/base.hpp"

namespace circoll::mpi {

RankMap::RankMap(std::vector<int> ranks) {
  if (ranks.empty()) return;
  first_ = ranks[0];
  stride_ = ranks.size() > 1 ? ranks[1] - ranks[0] : 1;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == first_ + stride_ * static_cast<int>(i)) continue;
    table_ = std::move(ranks);
    return;
  }
}

bool find_world_ranks(MPI_Comm comm, Rank size, RankMap* ranks) {
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return false;
  if (PMPI_Comm_group(base_world(), &world) != MPI_SUCCESS) {
    PMPI_Group_free(&group);
    return false;
  }
  const auto n = static_cast<std::size_t>(size);
  std::vector<int> own(n), in_world(n);
  std::iota(own.begin(), own.end(), 0);
  const int rc = PMPI_Group_translate_ranks(group, static_cast<int>(size), own.data(), world, in_world.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  if (rc != MPI_SUCCESS || std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) != in_world.end()) return false;
  *ranks = RankMap(std::move(in_world));
  return true;
}

}  // namespace circoll::mpi
