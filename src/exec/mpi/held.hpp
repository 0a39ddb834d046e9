// Datatypes and operators that the program may free while operations still need them: MPI lets it, as soon as a nonblocking
// call has returned or a persistent request has been made.
#pragma once

#include <mpi.h>

#include <array>

#include "exec/mpi/call.hpp"

namespace circoll::mpi {

/// What MPI_Op_free does: true if the operator is held, and will be freed later; false if the caller shall free it now.
[[nodiscard]] bool free_op_later(MPI_Op op) noexcept;

/// Holds what a call refers to, as long as it lives.
class HeldCall {
 public:
  explicit HeldCall(const Call& call);
  ~HeldCall();
  HeldCall(const HeldCall&) = delete;
  HeldCall& operator=(const HeldCall&) = delete;

  /// The call, with handles that stay valid as far as they are needed.
  [[nodiscard]] const Call& call() const { return call_; }

 private:
  void hold(MPI_Datatype Call::*type, bool user_operator);
  void release() noexcept;

  Call call_;
  MPI_Op op_ = MPI_OP_NULL;                                                  ///< held
  std::array<MPI_Datatype, 2> types_{MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};  ///< made, to be freed
};

}  // namespace circoll::mpi
