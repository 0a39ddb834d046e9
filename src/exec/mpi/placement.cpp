#include "exec/mpi/placement.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "core/environment.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "exec/mpi/plans.hpp"

namespace circoll::mpi {
namespace {

/// Two nodes whose names collide would be taken for one, which costs time and nothing else.
std::uint64_t name_of_node() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  PMPI_Get_processor_name(name.data(), &length);
  return Hash().add(std::string_view(name.data(), static_cast<std::size_t>(length))).value();
}

}  // namespace

int find_nodes(MPI_Comm comm, int rank, int size, std::vector<Rank>* node_of) {
  std::uint64_t own = name_of_node();
  if (const auto cores = environment("CIRCOLL_CORES")) {
    if (const auto number = parse_number(*cores); number && *number >= 1)
      own = static_cast<std::uint64_t>(rank / *number);
  }
  std::vector<std::uint64_t> names(static_cast<std::size_t>(size));
  const int rc = PMPI_Allgather(&own, 1, MPI_UINT64_T, names.data(), 1, MPI_UINT64_T, comm);
  if (rc != MPI_SUCCESS) return rc;
  std::map<std::uint64_t, Rank> numbers;
  node_of->clear();
  node_of->reserve(names.size());
  for (const std::uint64_t name : names) {
    node_of->push_back(numbers.try_emplace(name, static_cast<Rank>(numbers.size())).first->second);
  }
  return MPI_SUCCESS;
}

Placement placement_in_world(const Carrier& world, const RankMap& ranks, Rank size) {
  if (ranks.is_identity() && size == static_cast<Rank>(world.nodes().size())) return world.placement();
  std::vector<Rank> node_of(static_cast<std::size_t>(size));
  for (Rank r = 0; r < size; ++r) {
    node_of[static_cast<std::size_t>(r)] = world.nodes()[static_cast<std::size_t>(ranks(r))];
  }
  return shared_placement(placement_of(node_of));
}

}  // namespace circoll::mpi
