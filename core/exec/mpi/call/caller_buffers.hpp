// Reads a call's arguments: their meaning for a plan, and how the caller's buffers meet it.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "circoll/collectives.hpp"
#include "exec/mpi/call/call.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/call/elements.hpp"
#include "exec/mpi/call/summed_call.hpp"
#include "prepare/signature.hpp"

namespace circoll::mpi {

using prepare::InternedChoice;
using prepare::Numbers;
using prepare::Signature;

/// A buffer's address as a number to add to. MPI's buffers of no elements may be any pointer, and MPI_BOTTOM is such a
/// number.
[[nodiscard]] inline char* as_base(const void* buffer) { return static_cast<char*>(const_cast<void*>(buffer)); }

/// True if a buffer has no address, though it has elements. MPI_BOTTOM needs a datatype that does not begin at it.
[[nodiscard]] inline bool is_missing(const void* buffer, Count bytes, const TypeInfo& info) {
  return buffer == nullptr && bytes > 0 && info.true_lb_bytes == 0;
}

/// A caller's buffer that takes part at this rank: equal blocks one after another, or blocks at
/// displacements.
struct CallerSide {
  bool significant = false;
  char* buffer = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  TypeInfo info{};
  Count count = 0;  ///< elements of each block, or of the only one
  Rank blocks = 1;
  CountArray counts{};  ///< instead of `count`
  CountArray displs{};
  bool copied = false;  ///< goes through staging memory even if it is dense
  /// A block of alltoallw. `info` is that of bytes then, dense if all blocks are, and `counts` are `bytes`.
  struct TypedBlock {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    TypeInfo info{};
    Count count = 0;
  };
  std::vector<TypedBlock> typed{};
  std::vector<Count> bytes{};

  [[nodiscard]] bool staged() const { return significant && (copied || !info.dense); }
  [[nodiscard]] Count bytes_of(Rank block) const { return elements_of(block) * info.size_bytes; }
  [[nodiscard]] Count elements_of(Rank block) const { return counts ? counts[block] : count; }
  [[nodiscard]] Count total_bytes() const;
  /// Null, though there are elements in it.
  [[nodiscard]] bool missing() const;
  [[nodiscard]] char* block_begin(Rank block) const { return buffer + displs[block] * info.extent_bytes; }
  [[nodiscard]] TypedBlock typed_block(Rank block) const {
    return typed.empty() ? TypedBlock{type, info, elements_of(block)} : typed[static_cast<std::size_t>(block)];
  }

  /// Between the buffer and its packed form.
  [[nodiscard]] int pack_to(std::byte* to) const;
  [[nodiscard]] int unpack_from(const std::byte* from) const;
};

/// One call at one rank. There are two kinds of calls.
///
/// Collectives that only move data work on packed bytes, so that ranks may describe the same data by different (count,
/// type). A buffer of a dense type is its own packed form, and one with gaps goes through staging memory. So do the
/// blocks that an alltoall(v) in place sends, because the received blocks overwrite them.
///
/// Reductions work on elements in the caller's buffers. Where operator and type are predefined, they use our kernels.
/// Otherwise they call the user's function through MPI_Reduce_local, on elements spaced by the datatype's extent.
class CallerBuffers {
 public:
  CallerBuffers(const Call& call, Rank rank, Rank size);
  // A side may refer to the sizes of the other one's blocks.
  CallerBuffers(const CallerBuffers&) = delete;
  CallerBuffers& operator=(const CallerBuffers&) = delete;

  [[nodiscard]] const Call& call() const { return call_; }
  /// `call` has other addresses of buffers, of the same kind (CallShape). False: the call means something else now, and
  /// must be read anew.
  [[nodiscard]] bool readdress();
  /// The arguments are wrong: the native collective shall say how.
  [[nodiscard]] bool erroneous() const { return erroneous_; }
  /// True if a call with the same arguments means the same, and is worth being remembered. Then its handles are MPI's
  /// own, which the program cannot free. Datatypes of blocks may be the program's, since readdress() looks at them.
  [[nodiscard]] bool lasting() const {
    const bool few_arrays = size_ <= most_ranks_with_known_arrays;
    return (few_arrays || !is_irregular(call_.collective)) && (call_.has_types || has_lasting_handles());
  }
  /// The part of it that is about handles.
  [[nodiscard]] bool has_lasting_handles() const;
  /// Why Circoll does not serve the call, the same on all ranks; empty if it does.
  [[nodiscard]] std::string_view unsupported() const { return unsupported_; }

  [[nodiscard]] Signature signature(const InternedChoice& choice) const;
  [[nodiscard]] const Elements& elements() const {
    static const Elements bytes{};
    return summed_ ? bytes : elements_;
  }

  /// Has a sum of floating-point numbers served by stages that move operands (SummedCall). Two operands need none: they
  /// have one order, and a kernel rounds them once. Signature and memory are those of the stage then. `most_gathered`
  /// is SummedCall's.
  void sum_operands(Sums sums, Count most_gathered);
  /// The stages, or nullptr.
  [[nodiscard]] SummedCall* summed() { return summed_ ? &*summed_ : nullptr; }
  [[nodiscard]] const SummedCall* summed() const { return summed_ ? &*summed_ : nullptr; }
  /// The datatype of messages: MPI_BYTE, or the caller's where elements have gaps.
  [[nodiscard]] MPI_Datatype wire_type() const { return elements_.typed ? elements_.type : MPI_BYTE; }

  /// True for gatherv and scatterv, whose counts only the root knows, and for alltoallv, unless its algorithm is
  /// direct.
  [[nodiscard]] bool needs_prologue() const { return has_unknown_size(call_.collective); }
  [[nodiscard]] Signature prologue_signature(const InternedChoice& choice) const;
  /// Packed bytes of this rank's contribution or block. For alltoall(v) they are of all that it sends.
  [[nodiscard]] Count own_bytes() const { return own_bytes_; }
  /// Packed bytes that this rank sends, or those that it receives if they are more. O(p).
  [[nodiscard]] Count longer_side_bytes() const { return std::max(send_.total_bytes(), recv_.total_bytes()); }
  /// Packed bytes of every block that this rank knows about: at the root, or those that it sends (alltoallv). Elsewhere
  /// nothing is written.
  void known_counts(std::span<Count> counts) const;
  /// True if the blocks that will arrive fit into this rank's buffer. `counts` are those of user blocks 0 .. p - 1, for
  /// alltoallv those of `blocks`.
  [[nodiscard]] bool admits(std::span<const Block> blocks, std::span<const Count> counts) const;
  /// Lets blocks that do not fit go into staging memory, and no further. The other ranks send them, because they cannot
  /// know that.
  void discard(std::span<const Block> blocks, std::span<const Count> counts);
  [[nodiscard]] bool discards() const { return discarded_bytes_ >= 0; }

  /// Divides an alltoall(v) in place of long blocks into rounds. Each round moves a part of every block, so that
  /// staging memory stays small. In an alltoallv, messages must go directly from rank to rank. Has no effect on other
  /// calls.
  void use_rounds();
  void use_no_rounds() {
    rounds_ = 0;
    recv_.copied = false;
  }
  [[nodiscard]] bool in_rounds() const { return rounds_ > 0; }
  /// True if it takes several executions: rounds, or stages of a sum.
  [[nodiscard]] bool has_parts() const { return in_rounds() || (summed_ && summed_->stages() > 1); }
  /// Goes to the first round, or to the next one if there is one. Signature and memory are those of the round then.
  void first_round() {
    if (summed_) return summed_->set_stage(0);
    if (in_rounds()) set_round(0);
  }
  [[nodiscard]] bool next_round();

  /// True if schedules work in the caller's buffers as they are. Then before() and after() have nothing to do, and
  /// bases do not depend on staging memory. Not after discard().
  [[nodiscard]] bool direct() const {
    if (summed_) return false;
    return reducing_ ? !(in_place_ && is_reduce_scatter(call_.collective)) : !send_.staged() && !recv_.staged();
  }
  /// send_base() and recv_base() where that is so.
  [[nodiscard]] char* direct_send() const {
    if (!reducing_) return send_.buffer;
    return in_place_ ? nullptr : as_base(call_.sendbuf);
  }
  [[nodiscard]] char* direct_recv() const { return reducing_ ? as_base(call_.recvbuf) : recv_.buffer; }
  [[nodiscard]] Count send_staging_bytes() const;
  [[nodiscard]] Count recv_staging_bytes() const;
  [[nodiscard]] char* send_base(std::byte* staging) const;
  [[nodiscard]] char* recv_base(std::byte* staging) const;
  /// Packs what the schedule reads from staging memory; unpacks, or copies, what it has written there.
  [[nodiscard]] int before(std::byte* send_staging, std::byte* recv_staging) const;
  [[nodiscard]] int after(std::byte* recv_staging, const Elements& elements) const;

 private:
  void read_reduction();
  void read_operator(const TypeInfo& info);
  void read_movement();
  void read_exchange();
  void read_side(CallerSide& side, const void* buffer, Count count, MPI_Datatype type);
  void read_typed_side(CallerSide& side, const void* buffer, const CountArray& counts, const CountArray& displs,
                       const MPI_Datatype* types);
  /// False if the handle of a block's datatype is another one's by now.
  [[nodiscard]] bool has_same_types() const;
  void check_counts(const CountArray& counts, bool significant);
  /// True if the native collective refuses equal buffers at this rank. In an exchange these are the two buffers. In
  /// other collectives they are the side with one block, and this rank's block in the other buffer.
  [[nodiscard]] bool refuses_equal_buffers() const;
  [[nodiscard]] bool refuses_own_block() const;
  [[nodiscard]] bool at_root() const { return rank_ == call_.root; }
  /// The side with a block of every rank.
  [[nodiscard]] const CallerSide& all_blocks() const;
  void add_arrays(Signature& signature) const;
  void set_round(Count round);
  [[nodiscard]] Count round_bytes() const;
  [[nodiscard]] int move_part(Rank block, Count bytes, std::byte* staged, bool out) const;
  /// Packs the parts of this round, or unpacks them.
  [[nodiscard]] int move_round(std::byte* staging, bool out) const;
  [[nodiscard]] int pack_own_block(std::byte* recv_staging) const;

  const Call& call_;
  Rank rank_;
  Rank size_;
  bool reducing_;
  bool erroneous_ = false;
  std::string_view unsupported_{};
  bool in_place_ = false;  ///< as the caller says it
  CallerSide send_{};
  CallerSide recv_{};
  Elements elements_{};
  std::optional<SummedCall> summed_{};
  bool idempotent_ = false;
  bool exact_ = true;
  Count block_ = 0;  ///< plan elements per user block, where uniform
  Count own_bytes_ = 0;
  Count rounds_ = 0;  ///< of an exchange in place; 0: all at once
  Count round_ = 0;
  Count part_bytes_ = 0;
  std::vector<Count> parts_{};  ///< of each block, in bytes, in this round
  Count discarded_bytes_ = -1;  ///< not negative: the call fails, and its blocks are received and dropped
};

}  // namespace circoll::mpi
