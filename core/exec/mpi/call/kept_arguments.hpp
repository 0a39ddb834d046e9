// Operations keep arguments that a program may free or overwrite while they still need them. The program may do so as
// soon as a nonblocking call has returned or a persistent request has been made. Such arguments are datatypes and
// operators, and arrays of counts, which MPI libraries copy, too.
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "exec/mpi/call/call.hpp"

namespace circoll::mpi {

/// Serves MPI_Op_free. True if the operator is held, and will be freed later; false if the caller shall free it now.
[[nodiscard]] bool free_op_later(MPI_Op op) noexcept;

/// Copies the arrays of a call into one, and lets the call refer to the copies. `rank` and `size` are those of the
/// communicator. Arrays that are not significant at this rank may be anything, and are not read.
[[nodiscard]] std::vector<Count> keep_arrays(Call& call, Rank rank, Rank size);

/// Copies the datatypes of blocks, after the other arrays. The program may free the datatypes.
[[nodiscard]] std::vector<MPI_Datatype> keep_types(Call& call, Rank size);

/// Keeps the objects to which a call refers, as long as it lives.
class KeptArguments {
 public:
  /// `rank` and `size` are those of the communicator, which say which arrays the call has.
  KeptArguments(const Call& call, Rank rank, Rank size);
  ~KeptArguments();
  KeptArguments(const KeptArguments&) = delete;
  KeptArguments& operator=(const KeptArguments&) = delete;

  /// The call, with handles and arrays that stay valid as far as they are needed.
  [[nodiscard]] const Call& call() const { return call_; }

 private:
  /// Returns a handle that stays valid as far as the call needs it.
  [[nodiscard]] MPI_Datatype hold(MPI_Datatype type, bool user_operator);
  /// Copies the datatypes of blocks, and holds them.
  void hold(const MPI_Datatype* Call::*types, const CountArray& counts, Rank size);
  void release() noexcept;

  Call call_;
  std::vector<Count> numbers_;           ///< copies of the arrays
  MPI_Op op_ = MPI_OP_NULL;              ///< held
  std::vector<MPI_Datatype> made_;       ///< to be freed
  std::vector<MPI_Datatype> blocks_[2];  ///< datatypes of the blocks of alltoallw, sent and received
};

}  // namespace circoll::mpi
