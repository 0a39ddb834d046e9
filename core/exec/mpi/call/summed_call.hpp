// MPI_SUM of floating-point numbers whose bits depend on no algorithm (docs/adr/0042).
//
// Operands travel as they are, and are summed where the result is wanted. A call has stages, each of which is a
// collective that moves bytes:
//   allreduce, reduce      short: allgather (gather) of all operands
//                          long: alltoall of operands, then allgather (gather) of sums
//   reduce_scatter(_block) alltoall(v) of operands
//   scan, exscan           allgather of operands, for so many elements at a time that memory stays small
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "circoll/types.hpp"
#include "exec/mpi/call/call.hpp"
#include "prepare/choices.hpp"
#include "prepare/signature.hpp"

namespace circoll::mpi {

using prepare::Sums;

/// True if CIRCOLL_SUM is about the call: MPI_SUM of float, double, or a complex number of these.
[[nodiscard]] bool is_sum_of_floats(const Call& call);

/// The stages of one call at one rank. Decisions depend on values only that are equal on all ranks.
class SummedCall {
 public:
  /// `in_place`: this rank's operands are in the receive buffer. The call must outlive the object.
  SummedCall(const Call& call, Type type, Sums sums, bool in_place, Rank rank, Rank size);

  [[nodiscard]] Count stages() const { return stages_; }
  [[nodiscard]] Count stage() const { return stage_; }
  void set_stage(Count stage) { stage_ = stage; }

  /// Of the stage, without a choice.
  [[nodiscard]] prepare::Signature signature() const;
  [[nodiscard]] Count send_staging_bytes() const;
  [[nodiscard]] Count recv_staging_bytes() const;
  [[nodiscard]] char* send_base(std::byte* staging) const;
  [[nodiscard]] char* recv_base(std::byte* staging) const;
  void before(std::byte* send_staging) const;
  void after(const std::byte* recv_staging);

 private:
  /// True if each operand goes to the one rank that sums it. False: it goes to all ranks, or to the root.
  [[nodiscard]] bool exchanges() const { return exchanges_ && stage_ == 0; }
  [[nodiscard]] bool collects_sums() const { return exchanges_ && stage_ == 1; }
  [[nodiscard]] bool receives() const { return call_.collective != Collective::reduce || rank_ == call_.root; }
  [[nodiscard]] const char* operands() const;
  /// Elements that this rank gets from each rank in the stage.
  [[nodiscard]] Count block() const;
  [[nodiscard]] Count first_element() const { return exchanges_ ? 0 : stage_ * part_; }
  void sum(void* to, const std::byte* rows, Count row_count, Count stride, Count elements) const;

  const Call& call_;
  Type type_;
  Sums sums_;
  bool in_place_;
  Rank rank_, size_;
  Count element_bytes_;
  Count count_ = 0;         ///< elements of the whole vector
  bool exchanges_ = false;  ///< the first stage is an alltoall(v)
  Count part_ = 0;          ///< elements per stage, where it is not; of each rank's block, where it is
  Count stages_ = 1;
  Count stage_ = 0;
  std::vector<Count> received_{};      ///< reduce_scatter: this rank's count, from each rank
  std::vector<std::byte> own_sums_{};  ///< between two stages
};

}  // namespace circoll::mpi
