// Derived datatypes, calls on them by a given algorithm, and an operator on elements that begin anywhere.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "circoll/algorithm.hpp"
#include "exec/mpi/call/calls.hpp"
#include "harness.hpp"

namespace circoll::test {

/// Commits a datatype, and returns it.
[[nodiscard]] MPI_Datatype committed(MPI_Datatype type);

/// Commits a resized datatype, and frees the original.
[[nodiscard]] MPI_Datatype resized(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent);

/// Runs an algorithm; fails the test if another one serves the call.
void serve(const mpi::Call& call, const Algorithm& algorithm, const std::string& params = {});

/// Calls function(algorithm) for all algorithms that may serve a call of all ranks.
template <typename Function>
void for_each_algorithm(Collective collective, OperatorTraits traits, Function&& function) {
  for (const Algorithm* algorithm : algorithms_of(collective)) {
    if (unmet_need(*algorithm, world_size(), traits).empty()) function(*algorithm);
  }
}

/// Composes affine maps x -> a x + b, which do not commute. A map is the first two words of an element, wherever it
/// begins.
void compose_anywhere(void* in, void* inout, int* count, MPI_Datatype* type);

using Map = std::array<std::uint32_t, 2>;

/// The map that a rank contributes as element i.
[[nodiscard]] Map map_of(int rank, Count i);

/// The composition of the maps of ranks first .. last - 1.
[[nodiscard]] Map composed(int first, int last, Count i);

}  // namespace circoll::test
