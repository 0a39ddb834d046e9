#include "exec/mpi/comm/placement.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "circoll/error.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"
#include "exec/node/place.hpp"
#include "facts/environment.hpp"
#include "facts/hash.hpp"
#include "facts/text.hpp"
#include "prepare/level_labels.hpp"
#include "select/machine_path.hpp"

namespace circoll::mpi {
namespace {

/// A placement that communicators share. All its members follow from the nodes, and from the levels above them.
struct KnownPlacement {
  std::weak_ptr<const std::vector<Rank>> node_of;
  std::weak_ptr<const Relabelling> labels, in_order;
  std::weak_ptr<LevelLabels> levels;
};

bool same_levels(const std::shared_ptr<LevelLabels>& a, const std::shared_ptr<LevelLabels>& b) {
  return a == b || (a != nullptr && b != nullptr && a->nodes().same_parts(b->nodes()));
}

/// Part of the executor's global state (HACKING.md).
struct KnownPlacements {
  std::mutex mutex;
  std::vector<KnownPlacement> all;
};

KnownPlacements& placements_in_use() {
  static auto* const instance = new KnownPlacements;  // never destroyed: threads of the program may still run at exit
  return *instance;
}

std::string own_host() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  PMPI_Get_processor_name(name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

/// Two nodes whose names collide count as one. That costs time and nothing else.
std::uint64_t name_of_node() { return Hash().add(own_host()).value(); }

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

/// The path to this node, or why it is not known.
struct OwnPath {
  std::array<std::uint64_t, RankLocation::most_levels> keys{};
  std::string complaint{};
};

OwnPath read_own_path() {
  OwnPath own;
  int rank = 0, size = 1;
  PMPI_Comm_rank(base_world(), &rank);
  PMPI_Comm_size(base_world(), &size);
  try {
    const select::Path path =
        select::path_above(environment("CIRCOLL_TOPOLOGY").value_or("off"), {own_host(), rank, size});
    Hash hash;  // each key goes on with the one before
    for (std::size_t level = 0; level < std::min(path.size(), own.keys.size()); ++level)
      own.keys[level] = std::max<std::uint64_t>(hash.add(path[level]).value(), 1);
  } catch (const std::exception& error) {
    own.complaint = std::string("CIRCOLL_TOPOLOGY: ") + error.what();
  }
  return own;
}

/// Read once: a process stays where it is.
const OwnPath& own_path() {
  static const OwnPath own = read_own_path();
  return own;
}

/// Levels above the nodes of a placement. path_of(rank) is the path to the rank's node, whose name comes last.
template <typename PathOf>
std::shared_ptr<LevelLabels> levels_by_first_ranks(const Placement& placement, const PathOf& path_of) {
  std::vector<std::vector<std::string>> paths;
  for (const int leader : leaders_of(*placement.node_of)) paths.push_back(path_of(static_cast<std::size_t>(leader)));
  return std::make_shared<LevelLabels>(Levels(std::move(paths)), placement);
}

/// Why the levels above the nodes are not known; empty: they are.
std::string no_levels_because(std::span<const RankLocation> all, const Placement& placement) {
  std::vector<const RankLocation*> first(static_cast<std::size_t>(placement.nodes), nullptr);  // of each node
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].above[0] == 0) return "rank " + std::to_string(r) + " does not know what is above its node";
    const RankLocation*& known = first[static_cast<std::size_t>((*placement.node_of)[r])];
    if (known == nullptr) known = &all[r];
    if (known->above != all[r].above)
      return "rank " + std::to_string(r) + " is below other switches than another rank of its node";
  }
  return {};
}

std::shared_ptr<LevelLabels> levels_of(std::span<const RankLocation> all, const Placement& placement) {
  if (!no_levels_because(all, placement).empty()) return nullptr;
  return levels_by_first_ranks(placement, [&](std::size_t rank) {
    std::vector<std::string> path;
    for (const std::uint64_t key : all[rank].above) {
      if (key != 0) path.push_back(std::to_string(key));
    }
    path.push_back(std::to_string((*placement.node_of)[rank]));
    return path;
  });
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
    auto levels = one.levels.lock();
    if (placement.labels != nullptr && labels == nullptr) continue;  // its last owner is just going
    if (!same_levels(levels, placement.levels)) continue;
    placement.labels = std::move(labels);
    placement.node_of = std::move(node_of);
    if (auto in_order = one.in_order.lock()) placement.in_order = std::move(in_order);
    placement.levels = std::move(levels);
    return placement;
  }
  known.all.push_back({placement.node_of, placement.labels, placement.in_order, placement.levels});
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
  if (world.levels != nullptr) {
    placement.levels =
        levels_by_first_ranks(placement, [&](std::size_t rank) { return world.levels->nodes().path(node_of[rank]); });
  }
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
  own.above = own_path().keys;
  all->assign(static_cast<std::size_t>(size), {});
  constexpr int words = sizeof(RankLocation) / sizeof(std::uint64_t);
  static_assert(sizeof(RankLocation) % sizeof(std::uint64_t) == 0 &&
                std::has_unique_object_representations_v<RankLocation>);
  return PMPI_Allgather(&own, words, MPI_UINT64_T, all->data(), words, MPI_UINT64_T, comm);
}

std::string topology_complaint(std::span<const RankLocation> all, int rank) {
  const auto lost = std::find_if(all.begin(), all.end(), [](const RankLocation& one) { return one.above[0] == 0; });
  return lost - all.begin() == rank ? own_path().complaint : std::string();
}

std::string topology_text(std::span<const RankLocation> all, const Placement& placement) {
  if (std::string why = no_levels_because(all, placement); !why.empty()) return "none, since " + why;
  const Levels& nodes = placement.levels->nodes();
  std::string text = std::to_string(nodes.size()) + " nodes in ";
  for (int level = 0; level + 1 < nodes.depth(); ++level)
    text +=
        (level > 0 ? ", " : "") + std::to_string(nodes.parts(level)) + " parts of level " + std::to_string(level + 1);
  if (nodes.depth() == 1) text += "one part";
  return placement.levels->moves_nodes() ? text : text + "; they stay in their places";
}

std::vector<Rank> nodes_of(std::span<const RankLocation> all) {
  std::map<std::uint64_t, Rank> numbers;
  std::vector<Rank> nodes;
  nodes.reserve(all.size());
  for (const RankLocation& one : all)
    nodes.push_back(numbers.try_emplace(one.node, static_cast<Rank>(numbers.size())).first->second);
  return nodes;
}

std::vector<int> leaders_of(std::span<const Rank> node_of) {
  std::vector<int> leaders;
  for (std::size_t r = 0; r < node_of.size(); ++r) {
    if (node_of[r] == static_cast<Rank>(leaders.size())) leaders.push_back(static_cast<int>(r));
  }
  return leaders;
}

Placement placement_from(std::span<const RankLocation> all) {
  const std::vector<Rank> nodes = nodes_of(all);
  Placement placement = placement_of(nodes);
  placement.levels = levels_of(all, placement);
  std::map<Rank, std::vector<node::OwnProcessors>> on_node;
  for (std::size_t i = 0; i < all.size(); ++i) on_node[nodes[i]].push_back(all[i].processors);
  placement.crowded =
      std::any_of(on_node.begin(), on_node.end(), [](const auto& one) { return node::is_crowded(one.second); });
  return placement;
}

}  // namespace circoll::mpi
