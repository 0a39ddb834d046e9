// Local work on messages: reductions and copies of a plan, and a message's pieces packed one after another.
#pragma once

#include <cstddef>
#include <span>

#include "circoll/plan.hpp"
#include "exec/mpi/message/channel.hpp"
#include "exec/node/pieces.hpp"

namespace circoll::mpi {

/// Executes the runs of a copy or reduction. The message of a step that receives as well is in its pieces by then.
/// Returns an MPI error code.
[[nodiscard]] int combine(const Plan& plan, const PlanStep& step, const Binding& binding);

/// Combines a message part by part, straight from where the parts are. Parts come in order.
class PartCombiner final : public node::Taker {
 public:
  /// True if elements can be combined one by one wherever they lie, and no part ends within one.
  [[nodiscard]] static bool suits(const Elements& elements);

  /// Begins a message of a step of StepKind::recv_reduce. All must outlive it.
  void begin(const Plan& plan, const PlanStep& step, const Binding& binding);
  /// The result's memory, unless the other operand lies there.
  [[nodiscard]] std::span<std::byte> place(std::size_t at, std::size_t bytes) override;
  void take(std::size_t at, std::span<const std::byte> part) override;
  [[nodiscard]] int error() const { return error_; }

 private:
  const Binding* binding_ = nullptr;
  std::span<const Run> runs_{};  // that are not complete
  std::size_t first_ = 0;        // byte of the message that the first of them begins with
  bool arrives_left_ = false;
  int error_ = MPI_SUCCESS;
};

/// Packs the pieces of a message. Returns an MPI error code.
[[nodiscard]] int pack_pieces(const Plan& plan, const PlanStep& step, const Binding& binding, std::byte* to);
/// Puts packed pieces back to their places.
[[nodiscard]] int unpack_pieces(const Plan& plan, const PlanStep& step, const Binding& binding, const std::byte* from);

}  // namespace circoll::mpi
