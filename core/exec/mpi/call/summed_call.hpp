// MPI_SUM of floating-point numbers whose bits depend on no algorithm (docs/adr/0042).
//
// Operands travel as they are, and are summed where the result is wanted. A call has stages, each of which is a
// collective that moves bytes:
//   allreduce, reduce      short: allgather (gather) of all operands
//                          long: alltoall of operands, then allgather (gather) of sums, a part of the vector at a time
//   reduce_scatter(_block) alltoall(v) of operands, a part of each block at a time
//   scan, exscan           allgather of operands, a part of the vector at a time
//
// A part is as long as 16 MiB of staging memory let it be, or one element of each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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
  /// `in_place`: this rank's operands are in the receive buffer. `most_gathered`: bytes of the longest vector whose
  /// operands all go to all ranks. Another limit is 32 KiB divided by the ranks. The call must outlive the object.
  SummedCall(const Call& call, Type type, Sums sums, bool in_place, Rank rank, Rank size,
             Count most_gathered = std::numeric_limits<Count>::max());

  [[nodiscard]] Count stages() const { return stages_; }
  [[nodiscard]] Count stage() const { return stage_; }
  void set_stage(Count stage);
  /// Stages of the same number, 0 or 1, have the same plan. Nothing: the stage may have one of its own.
  [[nodiscard]] std::optional<std::size_t> plan_number() const;

  /// Of the stage, without a choice.
  [[nodiscard]] prepare::Signature signature() const;
  [[nodiscard]] Count send_staging_bytes() const;
  [[nodiscard]] Count recv_staging_bytes() const;
  /// Bytes of the sums that go from one stage to the next. Their memory is the caller's.
  [[nodiscard]] Count kept_bytes() const { return way_ == Way::exchange ? part_ * element_bytes_ : 0; }
  void keep_in(std::byte* memory) { own_sums_ = memory; }
  [[nodiscard]] char* send_base(std::byte* staging) const;
  [[nodiscard]] char* recv_base(std::byte* staging) const;
  void before(std::byte* send_staging) const;
  void after(const std::byte* recv_staging) const;

 private:
  enum class Way : std::uint8_t {
    gather,    ///< operands go to all ranks, or to the root
    exchange,  ///< operands go to the one rank that sums them, and sums to all ranks, or to the root
    scatter,   ///< operands go to the one rank that wants their sum
  };

  /// Divides a length into parts of at most `most`, which are about equal. A part is a stage.
  void cut(Count length, Count most);
  void cut_blocks(Count most);
  [[nodiscard]] bool collects_sums() const { return way_ == Way::exchange && stage_ % 2 == 1; }
  [[nodiscard]] bool receives() const { return call_.collective != Collective::reduce || rank_ == call_.root; }
  [[nodiscard]] const char* operands() const;
  /// The first element of the stage. With blocks it is that of each block.
  [[nodiscard]] Count first_element() const;
  /// Elements that this rank gets from each rank in the stage.
  [[nodiscard]] Count block() const;
  /// Bytes of the vector in a stage of an exchange; true if the blocks of all ranks are full.
  [[nodiscard]] Count vector_bytes() const;
  [[nodiscard]] bool is_full() const { return vector_bytes() == size_ * part_ * element_bytes_; }
  void sum(void* to, const std::byte* rows, Count row_count, Count elements) const;

  const Call& call_;
  Type type_;
  Sums sums_;
  bool in_place_;
  Rank rank_, size_;
  Count element_bytes_;
  Way way_ = Way::gather;
  Count count_ = 0;  ///< elements of the vector; of this rank's block in a reduce_scatter(_block)
  Count part_ = 1;   ///< elements per stage; of each rank's block, if the stage has blocks
  Count stages_ = 1;
  Count stage_ = 0;
  /// For an alltoallv: elements of the stage to and from each rank, and the beginnings of all blocks.
  std::vector<Count> sent_{}, received_{}, begins_{};
  std::byte* own_sums_ = nullptr;
};

}  // namespace circoll::mpi
