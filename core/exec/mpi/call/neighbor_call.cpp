#include "exec/mpi/call/neighbor_call.hpp"

#include <algorithm>

namespace circoll::mpi {
namespace {

bool self_edges_fit(const Neighborhood& one) {
  const auto to_itself = [&](const NeighborEdge& edge) { return edge.peer == one.rank; };
  return std::ranges::count_if(one.out, to_itself) == std::ranges::count_if(one.in, to_itself);
}

std::vector<NeighborEdge> edges_to(const std::vector<int>& peers, int count) {
  std::vector<NeighborEdge> edges;
  for (int i = 0; i < count; ++i) {
    const int peer = peers[static_cast<std::size_t>(i)];
    if (peer != MPI_PROC_NULL) edges.push_back({.peer = peer, .place = static_cast<std::size_t>(i)});
  }
  return edges;
}

/// MPI's functions want an address where there are no neighbours, too.
std::vector<int> room_for(int count) { return std::vector<int>(static_cast<std::size_t>(std::max(count, 1))); }

bool find_in_grid(MPI_Comm comm, Neighborhood& made) {
  int dimensions = 0;
  if (PMPI_Cartdim_get(comm, &dimensions) != MPI_SUCCESS) return false;
  std::vector<GridNeighbors> neighbors;
  for (int d = 0; d < dimensions; ++d) {
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    if (PMPI_Cart_shift(comm, d, 1, &below, &above) != MPI_SUCCESS) return false;
    neighbors.push_back(
        {.below = below == MPI_PROC_NULL ? -1 : Rank{below}, .above = above == MPI_PROC_NULL ? -1 : Rank{above}});
  }
  made = neighborhood_of_grid(made.size, made.rank, neighbors);
  return true;
}

bool find_in_graph(MPI_Comm comm, Neighborhood& made) {
  int count = 0;
  const int rank = static_cast<int>(made.rank);
  if (PMPI_Graph_neighbors_count(comm, rank, &count) != MPI_SUCCESS) return false;
  std::vector<int> peers = room_for(count);
  if (PMPI_Graph_neighbors(comm, rank, count, peers.data()) != MPI_SUCCESS) return false;
  made.out = made.in = edges_to(peers, count);
  return true;
}

bool find_in_distributed_graph(MPI_Comm comm, Neighborhood& made) {
  int in = 0, out = 0, weighted = 0;
  if (PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted) != MPI_SUCCESS) return false;
  std::vector<int> sources = room_for(in), source_weights = room_for(in);
  std::vector<int> targets = room_for(out), target_weights = room_for(out);
  if (PMPI_Dist_graph_neighbors(comm, in, sources.data(), source_weights.data(), out, targets.data(),
                                target_weights.data()) != MPI_SUCCESS)
    return false;
  made.in = edges_to(sources, in);
  made.out = edges_to(targets, out);
  return true;
}

}  // namespace

std::optional<Neighborhood> find_neighborhood(MPI_Comm comm, Rank rank, Rank size) {
  Neighborhood made{.size = size, .rank = rank};
  int topology = MPI_UNDEFINED;
  if (PMPI_Topo_test(comm, &topology) != MPI_SUCCESS) return std::nullopt;
  const bool found = topology == MPI_CART         ? find_in_grid(comm, made)
                     : topology == MPI_GRAPH      ? find_in_graph(comm, made)
                     : topology == MPI_DIST_GRAPH ? find_in_distributed_graph(comm, made)
                                                  : false;
  if (!found || !self_edges_fit(made)) return std::nullopt;
  return made;
}

int neighbor_blocks(MPI_Comm comm, bool sent) {
  int topology = MPI_UNDEFINED, rank = 0, count = 0, other = 0, weighted = 0;
  if (PMPI_Topo_test(comm, &topology) != MPI_SUCCESS) return 0;
  if (topology == MPI_CART && PMPI_Cartdim_get(comm, &count) == MPI_SUCCESS) return 2 * count;
  if (topology == MPI_GRAPH && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS &&
      PMPI_Graph_neighbors_count(comm, rank, &count) == MPI_SUCCESS)
    return count;
  if (topology == MPI_DIST_GRAPH && PMPI_Dist_graph_neighbors_count(comm, &count, &other, &weighted) == MPI_SUCCESS)
    return sent ? other : count;
  return 0;
}

void NeighborSide::read(const NeighborArguments& arguments, std::span<const NeighborEdge> edges, bool irregular) {
  blocks_.clear();
  types_.clear();
  staged_sizes_.clear();
  staged_ = false;
  erroneous_ = arguments.buffer == MPI_IN_PLACE || arguments.count < 0;
  if (edges.empty()) return;
  if (irregular && (!arguments.counts || !arguments.displs)) erroneous_ = true;
  if (arguments.types == nullptr) {
    read_type(arguments.type);
  } else {
    for (const NeighborEdge& edge : edges) {
      const auto place = static_cast<Rank>(edge.place);
      read_type(type_of_block(arguments.types, place, arguments.counts ? arguments.counts[place] : arguments.count));
    }
  }
  blocks_.reserve(edges.size());
  for (std::size_t i = 0; i < edges.size() && !erroneous_; ++i) {
    const auto place = static_cast<Rank>(edges[i].place);
    const TypeInfo& info = info_of(i);
    const Count count = arguments.counts ? arguments.counts[place] : arguments.count;
    const Count displ = arguments.displs ? arguments.displs[place] : place * arguments.count;
    const Count unit = arguments.types == nullptr ? info.extent_bytes : 1;
    blocks_.push_back({.displ_bytes = displ * unit, .count = count, .type_id = info.id});
    erroneous_ = count < 0;
    const Count bytes = count * info.size_bytes;
    staged_ = staged_ || (bytes > 0 && !info.dense);
    // MPI_BOTTOM needs displacements, or a datatype, that lead away from it.
    erroneous_ = erroneous_ || (arguments.buffer == nullptr && bytes > 0 && displ == 0 && info.true_lb_bytes == 0);
  }
}

void NeighborSide::read_type(MPI_Datatype type) {
  types_.push_back({.type = type, .info = describe(type)});
  erroneous_ = erroneous_ || !types_.back().info.valid;
}

Count NeighborSide::total_bytes() const {
  Count bytes = 0;
  for (std::size_t i = 0; i < size(); ++i) bytes += staged_bytes_of(i);
  return bytes;
}

std::vector<Count> NeighborSide::sizes() const {
  std::vector<Count> sizes;
  for (std::size_t i = 0; i < size(); ++i) sizes.push_back(bytes_of(i));
  return sizes;
}

bool NeighborSide::have(const std::vector<Count>& sizes) const {
  if (sizes.size() != size()) return false;
  for (std::size_t i = 0; i < size(); ++i) {
    if (bytes_of(i) != sizes[i]) return false;
  }
  return true;
}

std::vector<Count> NeighborSide::displacements() const {
  std::vector<Count> displs;
  if (staged_) return displs;
  for (const Part& part : blocks_) displs.push_back(part.displ_bytes);
  return displs;
}

int NeighborSide::hold_types() {
  for (Typed& one : types_) {
    if (!staged_ || one.info.named) continue;
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int rc = PMPI_Type_contiguous(1, one.type, &made);
    if (rc == MPI_SUCCESS) rc = PMPI_Type_commit(&made);
    if (rc != MPI_SUCCESS) return rc;
    one.type = made;
    one.made = true;
  }
  return MPI_SUCCESS;
}

void NeighborSide::release_types() noexcept {
  for (Typed& one : types_) {
    if (one.made) PMPI_Type_free(&one.type);
    one.made = false;
  }
}

int NeighborSide::pack_to(const void* buffer, std::byte* to) const {
  for (std::size_t i = 0; i < size(); to += staged_bytes_of(i), ++i) {
    if (bytes_of(i) != staged_bytes_of(i)) continue;
    const Part& part = blocks_[i];
    const auto* const from = static_cast<const char*>(buffer) + part.displ_bytes;
    if (const int rc = pack(from, part.count, type_of(i).type, info_of(i), to); rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

int NeighborSide::unpack_from(const std::byte* from, void* buffer) const {
  for (std::size_t i = 0; i < size(); from += staged_bytes_of(i), ++i) {
    if (bytes_of(i) != staged_bytes_of(i)) continue;
    const Part& part = blocks_[i];
    auto* const to = static_cast<char*>(buffer) + part.displ_bytes;
    if (const int rc = unpack(from, to, part.count, type_of(i).type, info_of(i)); rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

}  // namespace circoll::mpi
