#include "facts/called_collective.hpp"

namespace circoll {

std::string_view to_string(NeighborFunction function) {
  constexpr std::array<std::string_view, all_neighbor_functions.size()> names{
      "neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"};
  return names.at(static_cast<std::size_t>(function));
}

std::string_view to_string(const CalledCollective& called) {
  if (called.has_types) return "alltoallw";
  return called.neighbor ? to_string(*called.neighbor) : to_string(called.collective);
}

std::optional<CalledCollective> called_from_string(std::string_view name) {
  for (const NeighborFunction function : all_neighbor_functions) {
    if (to_string(function) == name) return function;
  }
  if (const CalledCollective typed = CalledCollective::alltoallw(); to_string(typed) == name) return typed;
  const std::optional<Collective> collective = collective_from_string(name);
  return collective ? std::optional<CalledCollective>(*collective) : std::nullopt;
}

}  // namespace circoll
