// The collective of a call: among all ranks of a communicator, or among neighbours.
#pragma once

#include <compare>
#include <optional>
#include <string_view>

#include "circoll/neighbor_function.hpp"
#include "circoll/types.hpp"

namespace circoll {

/// Either of the two converts to it.
struct CalledCollective {
  Collective collective = Collective::barrier;  ///< of neighbours: among_all(*neighbor)
  std::optional<NeighborFunction> neighbor{};
  bool has_types = false;  ///< MPI_Alltoallw: an alltoallv whose blocks have a datatype each

  CalledCollective() = default;
  CalledCollective(Collective among) : collective(among) {}  // NOLINT(google-explicit-constructor)
  // NOLINTNEXTLINE(google-explicit-constructor)
  CalledCollective(NeighborFunction function) : collective(among_all(function)), neighbor(function) {}
  [[nodiscard]] static CalledCollective alltoallw() {
    CalledCollective called(Collective::alltoallv);
    called.has_types = true;
    return called;
  }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a defaulted comparison for a pointer
  friend auto operator<=>(const CalledCollective&, const CalledCollective&) = default;
};
[[nodiscard]] std::string_view to_string(const CalledCollective& called);
/// Reads what to_string() writes.
[[nodiscard]] std::optional<CalledCollective> called_from_string(std::string_view name);

}  // namespace circoll
