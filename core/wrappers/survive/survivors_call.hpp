// A call on a communicator of which ranks have failed, as a call of the survivors among themselves. And its result.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/call/datatype.hpp"

namespace circoll::mpi {

/// Every rank's result of a kept call is the same, and needs something of every rank. So any rank that has left can
/// give it to the others. A rank that has made the next such call knows that all have made this one.
class KeptResult {
 public:
  /// Looks at a call on `size` ranks, alike on all of them.
  KeptResult(const Call& call, Rank size);
  /// False: a closing barrier is needed.
  [[nodiscard]] bool is_kept() const { return bytes_ > 0; }

  /// Appends the result, which the call's receive buffer has.
  void append_to(std::vector<std::byte>& bytes) const;
  /// Puts a result that another rank has kept into the receive buffer. Returns an MPI error code.
  [[nodiscard]] int put(std::span<const std::byte> bytes) const;

 private:
  /// A copy of a longer result takes longer than a barrier in memory.
  static constexpr Count most_bytes = 16384;

  void* recvbuf_ = nullptr;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  TypeInfo info_{};
  Count count_ = 0;
  Count bytes_ = 0;
};

/// Ranks keep their numbers for the program. Blocks of the survivors lie where they lay, and those of failed ranks stay
/// as they are. Among themselves the survivors are ranks 0, 1, ... in the same order.
///
///   allreduce, reduce, scan, exscan   combine the survivors' contributions
///   allgather, gather, alltoall       become the irregular collective, with displacements
///   scatter                           likewise; the blocks of failed ranks go nowhere
///   reduce_scatter                    a survivor gets the blocks of the failed ranks behind it, too, and drops them
///
/// If the root has failed, a reduce or gather has nothing to do; a bcast or scatter cannot be made.
class SurvivorsCall {
 public:
  /// `members`: the ranks of `call.comm` that live, in ascending order; `rank` is this one's. The call's memory must
  /// outlive this object.
  SurvivorsCall(const Call& call, const std::vector<int>& members, int rank);

  /// Why the call cannot be made; empty if it can. The same at all survivors.
  [[nodiscard]] std::string_view refused() const { return refused_; }
  /// True if there is nothing to do.
  [[nodiscard]] bool nothing() const { return nothing_; }
  [[nodiscard]] const Call& call() const { return call_; }
  /// After the call: gives the caller the data that has come beside its buffer.
  void finish();

 private:
  void set_root(const std::vector<int>& members);
  /// The counts and displacements of the survivors' blocks, where all are of one size.
  void divide(const std::vector<int>& members, Count count, CountArray& counts, CountArray& displs);
  [[nodiscard]] CountArray pick(const std::vector<int>& members, const CountArray& all);
  void join_blocks(const std::vector<int>& members, int rank, int size);
  [[nodiscard]] CountArray keep(std::vector<Count> numbers);

  Call call_;
  bool nothing_ = false;
  std::string_view refused_{};
  std::vector<std::unique_ptr<std::vector<Count>>> kept_;
  // For a reduce_scatter: its result lies behind blocks of failed ranks, or before them.
  std::vector<std::byte> beside_;
  const std::byte* from_ = nullptr;
  void* to_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace circoll::mpi
