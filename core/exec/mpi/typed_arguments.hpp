// From the typed API's description of a call to MPI's arguments.
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "circoll/mpi.hpp"
#include "exec/mpi/call/call.hpp"

namespace circoll::mpi {

/// A typed call as MPI's arguments. It has the arrays that MPI wants and the caller has not given: displacements of
/// blocks one after another, and counts of bytes where elements travel as bytes.
class TypedArguments {
 public:
  /// Arrays may be the caller's own, or copies that live as long as this object. Copies are of int if all numbers are,
  /// as the nonblocking calls of some MPI libraries need them.
  enum class Arrays { callers, copies };

  /// Throws Error(invalid_argument, unsupported).
  TypedArguments(const CollectiveCall& typed, MPI_Op op, MPI_Comm comm, Arrays arrays);
  TypedArguments(const TypedArguments&) = delete;
  TypedArguments& operator=(const TypedArguments&) = delete;

  [[nodiscard]] const Call& call() const { return call_; }

 private:
  /// `unit` is the factor of counts and displacements.
  void set_arrays(const CollectiveCall& typed, Count unit, Arrays arrays);

  Call call_;
  // Counts, displacements, and for alltoallv those of what is sent.
  std::array<CountArray, 4> arrays_{};
  std::array<std::vector<Count>, 4> wide_;
  std::array<std::vector<int>, 4> narrow_;
};

}  // namespace circoll::mpi
