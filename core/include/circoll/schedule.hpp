// One rank's part of a collective: steps on ranges of blocks. Algorithms write it, and all other rooms read it.
//
// Words. A *user block* is a part of the vector that the collective itself names: the whole vector of an allreduce, the
// contribution of one rank in an allgather. A schedule may cut every user block into `segments` equal parts. The
// results are the *blocks* (id = user block * segments + segment), the unit of every step. A *buffer* is a row of
// *slots*, and each slot holds one block. Sizes in bytes are unknown here: plan.hpp binds a schedule to them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/types.hpp"

namespace circoll {

using Slot = std::int64_t;
using Block = std::int64_t;
using StepIndex = std::uint32_t;

/// Values of an algorithm's declared parameters by name ("segments" -> 4). Absent means default.
using Params = std::map<std::string, std::int64_t, std::less<>>;

class Relabelling;

/// Everything an algorithm may know when it writes a schedule: no sizes, no types, no addresses.
struct Shape {
  Rank size = 1;          ///< p >= 1
  Rank rank = 0;          ///< 0 <= rank < size
  Rank root = 0;          ///< 0 <= root < size; 0 where the collective has no root
  bool in_place = false;  ///< MPI_IN_PLACE, at this rank (see CollectiveContract)
  Params params{};        ///< those that were given; others have their fallback
  /// The labels that the parameter "relabel" means. Nothing: nodes of so many ranks each, numbered node by
  /// node (relabelling.hpp).
  std::shared_ptr<const Relabelling> labels{};

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Buffer numbers 0 and 1 are the caller's; the others are scratch.
inline constexpr std::int32_t send_buffer = 0;
inline constexpr std::int32_t recv_buffer = 1;           ///< the other one of the caller's
inline constexpr std::int32_t first_scratch_buffer = 2;  ///< and all above

/// A row of slots and the block that each slot holds. Blocks are an arithmetic progression modulo the number of blocks,
/// (first_block + slot * stride) mod blocks, or an explicit list.
struct Buffer {
  Slot slots = 0;             ///< of the row
  Block first_block = 0;      ///< what slot 0 holds
  std::int64_t stride = 1;    ///< >= 0; 0 means that every slot holds first_block
  std::vector<Block> list{};  ///< of every slot, if there is no progression
  /// Scratch buffers with the same storage share memory. They are views of it, of which one is live at a time.
  std::int32_t storage = 0;

  friend bool operator==(const Buffer&, const Buffer&) = default;
};

/// `count` slots of a buffer from `first`, cyclic: past the last slot it goes on at slot 0. count <= slots.
struct Range {
  std::int32_t buffer = 0;  ///< Schedule::buffers[buffer]
  Slot first = 0;           ///< 0 <= first < slots
  Slot count = 0;           ///< 0 <= count <= slots

  friend bool operator==(const Range&, const Range&) = default;
};

/// A sequence of Schedule::ranges, in order; the blocks of a message or operand one after another.
struct Operand {
  std::uint32_t offset = 0;  ///< the first of the ranges
  std::uint32_t length = 0;  ///< how many ranges

  friend bool operator==(const Operand&, const Operand&) = default;
};

enum class StepKind : std::uint8_t {
  send,    ///< left -> peer
  recv,    ///< peer -> dst
  reduce,  ///< dst = left op right, block by block; dst may be left or right
  copy,    ///< dst = left
  /// dst = left op right as blocks arrive, of which one operand comes from the peer. It stands in scratch slots that
  /// may be used for it on the way, and hold nothing afterwards unless they are dst.
  recv_reduce,
};

/// One step. Unused operands are empty. The n-th send to a peer meets the n-th receive there from this rank.
struct Step {
  StepKind kind = StepKind::copy;  ///< what is done
  bool arrives_left = false;       ///< of recv_reduce: the left operand is the one that comes from the peer
  std::uint32_t round = 0;         ///< communication rounds count from 0; local steps after the last one carry `rounds`
  Rank peer = -1;                  ///< of messages
  Operand dst{};                   ///< what is written
  Operand left{};                  ///< what is read or sent
  Operand right{};                 ///< the right operand of a reduction

  friend bool operator==(const Step&, const Step&) = default;
};

// Operands of a step by what it does with them.

[[nodiscard]] inline bool is_receive(StepKind kind) { return kind == StepKind::recv || kind == StepKind::recv_reduce; }
[[nodiscard]] inline bool is_message(StepKind kind) { return kind == StepKind::send || is_receive(kind); }
[[nodiscard]] inline bool is_message(const Step& step) { return is_message(step.kind); }  ///< the same of a step
/// True if the step combines `left` and `right`.
[[nodiscard]] inline bool is_reduction(StepKind kind) {
  return kind == StepKind::reduce || kind == StepKind::recv_reduce;
}

/// The operand that a message reads or writes.
[[nodiscard]] inline Operand message_operand(const Step& step) {
  switch (step.kind) {
    case StepKind::send:
      return step.left;
    case StepKind::recv_reduce:
      return step.arrives_left ? step.left : step.right;
    default:
      return step.dst;
  }
}
/// The operand of a recv_reduce that is present before the message.
[[nodiscard]] inline Operand own_operand(const Step& step) { return step.arrives_left ? step.right : step.left; }

/// The operands that a step reads. Unused ones are empty.
[[nodiscard]] inline std::array<Operand, 2> operands_read(const Step& step) {
  if (step.kind == StepKind::recv_reduce) return {own_operand(step), Operand{}};
  return {step.left, step.right};
}
/// The operands that a step writes, in their order.
[[nodiscard]] inline std::array<Operand, 2> operands_written(const Step& step) {
  if (step.kind == StepKind::recv_reduce) return {message_operand(step), step.dst};
  return {step.dst, Operand{}};
}

/// One rank's part of a collective. Steps stand in program order. The ranges that steps read and write
/// (dependencies.hpp), and `edges`, say which steps must wait for one another.
struct Schedule {
  std::string id;                               ///< "allreduce/circulant"
  Collective collective = Collective::barrier;  ///< the one that it is a part of
  Shape shape{};                                ///< p, this rank, root, in place, parameters
  Block user_blocks = 1;          ///< 1; p where the collective names one block per rank; p * p for alltoall(v)
  std::int64_t segments = 1;      ///< parts that every user block is cut into
  std::uint32_t rounds = 0;       ///< communication rounds, the same on all ranks
  std::vector<Buffer> buffers{};  ///< of the caller, and scratch
  std::vector<Step> steps{};      ///< in program order
  std::vector<Range> ranges{};    ///< of all operands; Operand says which
  std::vector<std::pair<StepIndex, StepIndex>> edges{};  ///< explicit (earlier, later), beyond the derived ones

  [[nodiscard]] Block blocks() const { return user_blocks * segments; }  ///< the number of blocks
  [[nodiscard]] std::span<const Range> operand(Operand o) const { return {ranges.data() + o.offset, o.length}; }
  /// The block in a slot. Precondition: 0 <= slot < buffers[buffer].slots.
  [[nodiscard]] Block block_of(std::int32_t buffer, Slot slot) const;
  /// Number of blocks in an operand.
  [[nodiscard]] std::int64_t count(Operand o) const;

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// The contract of MPI for the caller's buffers of one rank, with the blocks that they hold before and after.
struct CollectiveContract {
  Block user_blocks = 1;          ///< as Schedule::user_blocks
  bool send_significant = false;  ///< false at this rank if in place, or if only the root's is significant
  bool recv_significant = false;  ///< likewise
  Buffer send{};                  ///< in blocks, after cutting
  Buffer recv{};                  ///< likewise
  /// Places of this rank's contribution, and of its result at the end.
  std::int32_t input_buffer = send_buffer;   ///< where the contribution lies
  Slot input_first = 0;                      ///< its first slot
  Slot input_count = 0;                      ///< in slots; 0: this rank contributes nothing
  std::int32_t output_buffer = recv_buffer;  ///< where the result lies
  Slot output_first = 0;                     ///< its first slot
  Slot output_count = 0;                     ///< in slots; 0: this rank gets no result
};

/// The contract of a collective for one rank when every user block is cut into `segments`.
///
/// In place (shape.in_place):
///   - allreduce, allgather(v): the contribution lies in the receive buffer.
///   - reduce: the contribution of the root lies in its receive buffer.
///   - gather(v): the root's own block lies in its receive buffer.
///   - scatter(v): the root's own block stays in its send buffer.
///   - scan, exscan: the contribution lies in the receive buffer, which exscan leaves as it is at rank 0.
///
/// For reduce_scatter(_block) in place is not a matter of the schedule: the executor binds the caller's receive buffer
/// as the send buffer, and a staging block as the receive buffer. Nor is it for alltoall(v): the executor copies the
/// caller's buffer, and binds the copy as the send buffer.
///
/// alltoall(v): user block s * p + d goes from rank s to rank d. A rank's send buffer holds its row of user blocks, and
/// its receive buffer holds its column.
[[nodiscard]] CollectiveContract contract_of(Collective collective, const Shape& shape, std::int64_t segments);

/// True if in-place calls of the collective run a schedule of their own at this rank (see contract_of).
[[nodiscard]] bool has_in_place_schedule(Collective collective, const Shape& shape);

/// The error of check_structure(): "schedule of rank 2, step 3: the peer is its own rank".
class StructureError : public Error {
 public:
  /// `step` is -1 if the error is none of a step. `line` is the step's line in a file, or 0.
  StructureError(Rank rank, std::int64_t step, const std::string& problem, std::size_t line = 0);

  /// The error without its place.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  /// The step, or -1.
  [[nodiscard]] std::int64_t step() const noexcept { return step_; }
  /// The same error with the line of the step.
  [[nodiscard]] StructureError at_line(std::size_t line) const { return {rank_, step_, problem_, line}; }

 private:
  Rank rank_;
  std::int64_t step_;
  std::string problem_;
};

/// Throws StructureError, of code invalid_argument, unless the structure is sound. Operands are within ranges, ranges
/// within slots, slots within blocks, peers within p, operand lengths of reductions and copies equal, storages
/// consistent.
void check_structure(const Schedule& schedule);

}  // namespace circoll
