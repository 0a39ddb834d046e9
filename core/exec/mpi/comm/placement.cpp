#include "exec/mpi/comm/placement.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace circoll::mpi {
namespace {

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

Placement placement_in_world(const Carrier& world, const RankMap& ranks, Rank size) {
  const std::vector<Rank>& nodes = *world.placement().node_of;
  if (ranks.is_identity() && size == static_cast<Rank>(nodes.size())) return world.placement();
  std::vector<Rank> node_of(static_cast<std::size_t>(size));
  for (Rank r = 0; r < size; ++r) {
    node_of[static_cast<std::size_t>(r)] = nodes[static_cast<std::size_t>(ranks(r))];
  }
  Placement placement = placement_of(node_of);
  placement.crowded = world.placement().crowded;  // the other ranks of its nodes take turns, too
  return shared_placement(std::move(placement));
}

}  // namespace circoll::mpi
