// Operators of callers (UserOperator) as MPI's handles. MPI gives the function of an operator no state of the caller's.
// So a fixed number of functions exists, each of which calls the UserOperator that has its place.
#pragma once

#include <mpi.h>

#include <exception>
#include <memory>

#include "circoll/buffers.hpp"

namespace circoll::mpi {

/// The place of one UserOperator. The operators of MPI are made at the first use of a place, and freed at MPI_Finalize.
class OperatorPlace {
 public:
  /// The operator with its commutativity. MPI_OP_NULL if MPI could not make it.
  [[nodiscard]] MPI_Op handle_of(const UserOperator& user);
  /// inout = left op inout. Keeps the first exception: it must not pass through MPI.
  void combine(const void* left, void* inout, Count elements) noexcept;
  void free_handles() noexcept;

  MPI_User_function* function = nullptr;  ///< calls combine() of this place
  std::exception_ptr failure{};

 private:
  const UserOperator* user_ = nullptr;
  MPI_Op ordered_ = MPI_OP_NULL, commutative_ = MPI_OP_NULL;
};

/// A UserOperator on its place, as long as this object lives. No UserOperator: nothing. Thread-safe.
class CallersOperator {
 public:
  /// Throws Error(unsupported) if all places are taken, and Error(invalid_argument) if it has no function.
  explicit CallersOperator(const UserOperator* user);

  /// MPI's operator, or `other` if there is no UserOperator.
  [[nodiscard]] MPI_Op handle_or(MPI_Op other) const { return place_ != nullptr ? handle_ : other; }
  /// Throws the exception of the operator, if there was one, once.
  void rethrow();

 private:
  struct GiveBack {
    void operator()(OperatorPlace* place) const noexcept;
  };
  std::unique_ptr<OperatorPlace, GiveBack> place_;
  MPI_Op handle_ = MPI_OP_NULL;
};

/// MPI's datatype for records of so many bytes. It is made once, and freed at MPI_Finalize. Thread-safe. Throws
/// Error(transport).
[[nodiscard]] MPI_Datatype record_type(Count bytes);

}  // namespace circoll::mpi
