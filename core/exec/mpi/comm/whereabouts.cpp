#include "exec/mpi/comm/whereabouts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <type_traits>

#include "exec/mpi/library/library.hpp"
#include "exec/node/address.hpp"
#include "exec/node/place.hpp"
#include "facts/environment.hpp"
#include "facts/hash.hpp"
#include "facts/text.hpp"

namespace circoll::mpi {
namespace {

/// Two nodes whose names collide would be taken for one, which costs time and nothing else.
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
  const node::Place here = node::Place::here();
  if (here.boot == 0) return 0;
  Hash hash;
  hash.add(here.boot).add(here.network).add(here.pids).add(here.time).add(here.users).add(node::layout_version);
  // Whoever divides the ranks among nodes wants messages between them.
  if (declared) hash.add(*declared);
  return std::max<std::uint64_t>(hash.value(), 1);
}

}  // namespace

int gather_whereabouts(MPI_Comm comm, int rank, int size, std::vector<Whereabouts>* all) {
  const std::optional<std::uint64_t> declared = declared_node(rank);
  Whereabouts own{.node = declared ? *declared : name_of_node(), .memory = memory_key(declared)};
  if (!library::waits_inside_mpi) own.processors = node::own_processors();
  all->assign(static_cast<std::size_t>(size), {});
  constexpr int words = sizeof(Whereabouts) / sizeof(std::uint64_t);
  static_assert(sizeof(Whereabouts) % sizeof(std::uint64_t) == 0 &&
                std::has_unique_object_representations_v<Whereabouts>);
  return PMPI_Allgather(&own, words, MPI_UINT64_T, all->data(), words, MPI_UINT64_T, comm);
}

std::vector<Rank> nodes_of(std::span<const Whereabouts> all) {
  std::map<std::uint64_t, Rank> numbers;
  std::vector<Rank> nodes;
  nodes.reserve(all.size());
  for (const Whereabouts& one : all)
    nodes.push_back(numbers.try_emplace(one.node, static_cast<Rank>(numbers.size())).first->second);
  return nodes;
}

Placement placement_from(std::span<const Whereabouts> all) {
  const std::vector<Rank> nodes = nodes_of(all);
  Placement placement = placement_of(nodes);
  std::map<Rank, std::vector<node::OwnProcessors>> on_node;
  for (std::size_t i = 0; i < all.size(); ++i) on_node[nodes[i]].push_back(all[i].processors);
  placement.crowded =
      std::any_of(on_node.begin(), on_node.end(), [](const auto& one) { return node::is_crowded(one.second); });
  return placement;
}

}  // namespace circoll::mpi
