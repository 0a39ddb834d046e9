#include "exec/mpi/comm/placement.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/environment.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"

namespace circoll::mpi {
namespace {

/// Two nodes whose names collide would be taken for one, which costs time and nothing else.
std::uint64_t name_of_node() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  PMPI_Get_processor_name(name.data(), &length);
  return Hash().add(std::string_view(name.data(), static_cast<std::size_t>(length))).value();
}

/// A placement that communicators have. All that it consists of follows from the nodes.
struct KnownPlacement {
  std::weak_ptr<const std::vector<Rank>> node_of;
  std::weak_ptr<const Relabelling> labels;
};

/// Part of the executor's global state (HACKING.md).
struct KnownPlacements {
  std::mutex mutex;
  std::vector<KnownPlacement> all;
};

KnownPlacements& placements_in_use() {
  static auto* const instance = new KnownPlacements;  // never destroyed: threads of the program may still run at exit
  return *instance;
}

}  // namespace

Placement shared_placement(Placement placement) {
  KnownPlacements& known = placements_in_use();
  const std::lock_guard lock(known.mutex);
  std::erase_if(known.all, [](const KnownPlacement& one) { return one.node_of.expired(); });
  for (const KnownPlacement& one : known.all) {
    auto node_of = one.node_of.lock();
    if (node_of == nullptr || *node_of != *placement.node_of) continue;
    auto labels = one.labels.lock();
    if (placement.labels != nullptr && labels == nullptr) continue;  // its last owner is just going
    placement.labels = std::move(labels);
    placement.node_of = std::move(node_of);
    return placement;
  }
  known.all.push_back({placement.node_of, placement.labels});
  return placement;
}

std::optional<std::uint64_t> declared_node(int rank) {
  const auto cores = environment("CIRCOLL_CORES");
  const auto number = cores ? parse_number(*cores) : std::nullopt;
  if (!number || *number < 1) return std::nullopt;
  return static_cast<std::uint64_t>(rank / *number);
}

int find_nodes(MPI_Comm comm, int rank, int size, std::vector<Rank>* node_of) {
  std::uint64_t own = name_of_node();
  if (const auto number = declared_node(rank)) own = *number;
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
  const std::vector<Rank>& nodes = *world.placement().node_of;
  if (ranks.is_identity() && size == static_cast<Rank>(nodes.size())) return world.placement();
  std::vector<Rank> node_of(static_cast<std::size_t>(size));
  for (Rank r = 0; r < size; ++r) {
    node_of[static_cast<std::size_t>(r)] = nodes[static_cast<std::size_t>(ranks(r))];
  }
  return shared_placement(placement_of(node_of));
}

}  // namespace circoll::mpi
