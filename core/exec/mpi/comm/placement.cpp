#include "exec/mpi/comm/placement.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"
#include "exec/node/place.hpp"
#include "facts/environment.hpp"
#include "facts/hash.hpp"
#include "facts/text.hpp"

namespace circoll::mpi {
namespace {

/// A placement that communicators share. All its members follow from the nodes.
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

/// Two nodes whose names collide count as one. That costs time and nothing else.
std::uint64_t name_of_node() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  PMPI_Get_processor_name(name.data(), &length);
  return Hash().add(std::string_view(name.data(), static_cast<std::size_t>(length))).value();
}

/// The number of the node that CIRCOLL_CORES puts a rank on, if it is set.
std::optional<std::uint64_t> declared_node(int rank) {
  const auto cores = environment("CIRCOLL_CORES");
  const auto number = cores ? parse_number(*cores) : std::nullopt;
  if (!number || *number < 1) return std::nullopt;
  return static_cast<std::uint64_t>(rank / *number);
}

std::uint64_t memory_key(std::optional<std::uint64_t> declared) {
  if (library::waits_inside_mpi) return 0;
  const node::KernelPlace here = node::KernelPlace::here();
  if (here.boot == 0) return 0;
  Hash hash;
  hash.add(here.boot).add(here.network).add(here.pids).add(here.time).add(here.users).add(node::layout_version);
  // CIRCOLL_CORES divides the ranks among nodes. Its user wants MPI messages between these nodes.
  if (declared) hash.add(*declared);
  return std::max<std::uint64_t>(hash.value(), 1);
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

Placement placement_in_world(const Placement& world, const RankMap& ranks, Rank size) {
  const std::vector<Rank>& nodes = *world.node_of;
  if (ranks.is_identity() && size == static_cast<Rank>(nodes.size())) return world;
  std::vector<Rank> node_of(static_cast<std::size_t>(size));
  for (Rank r = 0; r < size; ++r) {
    node_of[static_cast<std::size_t>(r)] = nodes[static_cast<std::size_t>(ranks(r))];
  }
  Placement placement = placement_of(node_of);
  placement.crowded = world.crowded;  // the other ranks of its nodes take turns, too
  return shared_placement(std::move(placement));
}

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

bool find_world_ranks(MPI_Group group, std::vector<int>* ranks) {
  MPI_Group world = MPI_GROUP_NULL;
  int size = 0;
  if (PMPI_Group_size(group, &size) != MPI_SUCCESS || PMPI_Comm_group(base_world(), &world) != MPI_SUCCESS)
    return false;
  std::vector<int> own(static_cast<std::size_t>(size));
  ranks->resize(own.size());
  std::iota(own.begin(), own.end(), 0);
  const int rc = PMPI_Group_translate_ranks(group, size, own.data(), world, ranks->data());
  PMPI_Group_free(&world);
  return rc == MPI_SUCCESS && std::find(ranks->begin(), ranks->end(), MPI_UNDEFINED) == ranks->end();
}

bool find_world_ranks(MPI_Comm comm, RankMap* ranks) {
  MPI_Group group = MPI_GROUP_NULL;
  if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return false;
  std::vector<int> in_world;
  const bool found = find_world_ranks(group, &in_world);
  PMPI_Group_free(&group);
  if (found) *ranks = RankMap(std::move(in_world));
  return found;
}

int gather_locations(MPI_Comm comm, int rank, int size, std::vector<RankLocation>* all) {
  const std::optional<std::uint64_t> declared = declared_node(rank);
  RankLocation own{.node = declared ? *declared : name_of_node(), .memory = memory_key(declared)};
  if (!library::waits_inside_mpi) own.processors = node::own_processors();
  all->assign(static_cast<std::size_t>(size), {});
  constexpr int words = sizeof(RankLocation) / sizeof(std::uint64_t);
  static_assert(sizeof(RankLocation) % sizeof(std::uint64_t) == 0 &&
                std::has_unique_object_representations_v<RankLocation>);
  return PMPI_Allgather(&own, words, MPI_UINT64_T, all->data(), words, MPI_UINT64_T, comm);
}

std::vector<Rank> nodes_of(std::span<const RankLocation> all) {
  std::map<std::uint64_t, Rank> numbers;
  std::vector<Rank> nodes;
  nodes.reserve(all.size());
  for (const RankLocation& one : all)
    nodes.push_back(numbers.try_emplace(one.node, static_cast<Rank>(numbers.size())).first->second);
  return nodes;
}

Placement placement_from(std::span<const RankLocation> all) {
  const std::vector<Rank> nodes = nodes_of(all);
  Placement placement = placement_of(nodes);
  std::map<Rank, std::vector<node::OwnProcessors>> on_node;
  for (std::size_t i = 0; i < all.size(); ++i) on_node[nodes[i]].push_back(all[i].processors);
  placement.crowded =
      std::any_of(on_node.begin(), on_node.end(), [](const auto& one) { return node::is_crowded(one.second); });
  return placement;
}

}  // namespace circoll::mpi
