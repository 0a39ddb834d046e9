// The channel of messages through memory that processes of a node share (core/exec/node).
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <vector>

#include "exec/mpi/message/channel.hpp"
#include "exec/mpi/message/combine.hpp"
#include "exec/node/exchange.hpp"
#include "exec/node/host.hpp"

namespace circoll::mpi {

/// Messages to and from node peers. Their keys are the values by which MPI matches: the receiver's number in the
/// carrier, and its tag. Allocates in the first start() only, except for elements with gaps.
class NodeChannel final : public Channel {
 public:
  explicit NodeChannel(const Plan& plan) : plan_(&plan) {}

  void start(const Binding& binding) override;
  /// True if the peer of a message is a node peer. After start() with a route that has some.
  [[nodiscard]] bool serves(StepIndex step) const { return ends_[step].peer != nullptr; }
  /// The node peer of such a message, and its key without the route's offset.
  [[nodiscard]] node::ConnectedPeer* peer(StepIndex step) const { return ends_[step].peer; }
  [[nodiscard]] std::uint64_t key(StepIndex step) const { return ends_[step].key; }
  /// The number of times that serves() has got other answers.
  [[nodiscard]] std::uint32_t changes() const { return changes_; }
  bool begin(StepIndex step) override;
  [[nodiscard]] std::span<const StepIndex> poll() override;
  [[nodiscard]] int error() const override { return error_; }
  [[nodiscard]] int truncation() const override { return truncation_; }
  void abandon() noexcept override;
  void halt(Halt& halt, const IsDead& is_dead) override;
  void look_for_peers() override;
  void add_awaited(std::vector<StepIndex>& steps) const override {
    for (std::size_t i = 0; i < active_; ++i) steps.push_back(transfers_[i]->step);
  }

 private:
  /// A message that is under way: `out` of a send, `in` of a receive.
  struct Transfer {
    StepIndex step = 0;
    node::ConnectedPeer* peer = nullptr;
    node::Outgoing out{};
    node::Incoming in{};
    std::vector<std::byte> packed{};  ///< of elements with gaps
    PartCombiner combiner{};          ///< of what is combined as it arrives
  };

  /// The other end of a step's message, and its key without the route's offset. nullptr if MPI serves it.
  struct End {
    node::ConnectedPeer* peer = nullptr;
    std::uint64_t key = 0;
    bool helps = false;  ///< a long message may be copied by both ends
  };

  void find_ends();
  [[nodiscard]] bool receives_next(StepIndex step) const;
  [[nodiscard]] bool is_combined(StepIndex step) const;
  /// True if the message is over already.
  [[nodiscard]] bool send(Transfer& transfer, const PlanStep& step);
  [[nodiscard]] bool receive(Transfer& transfer, const PlanStep& step);
  /// Sends a message that fits into a line, if there is one free: it needs no Transfer.
  [[nodiscard]] bool send_at_once(const PlanStep& step, node::ConnectedPeer& peer, std::uint64_t key);
  template <typename Byte>
  [[nodiscard]] std::span<Byte> memory(const Piece& piece) const {
    return {reinterpret_cast<Byte*>(binding_->address(piece.area, piece.offset_bytes)),
            static_cast<std::size_t>(piece.elements * plan_->extent_bytes)};
  }
  /// The memory of a message's pieces, of which the channel keeps a list if there are several.
  template <typename Byte>
  [[nodiscard]] node::Pieces<Byte> memory_of(const PlanStep& step, std::vector<std::span<Byte>>& list);
  [[nodiscard]] bool is_send(const Transfer& transfer) const {
    return plan_->steps[transfer.step].kind == StepKind::send;
  }
  /// Under the peer's lock.
  [[nodiscard]] bool over(const Transfer& transfer) const {
    return is_send(transfer) ? transfer.out.over : transfer.in.over;
  }
  void end(Transfer& transfer);
  /// True if a message is over because its sender has ended. Then the call is going to be interrupted.
  [[nodiscard]] bool is_lost(const Transfer& transfer) const {
    return !is_send(transfer) && transfer.in.reason != node::Reason::none && binding_->route.interruption != nullptr;
  }
  void unpack(Transfer& transfer, const PlanStep& step);
  /// True if a message is combined where it is found.
  [[nodiscard]] bool combines(const PlanStep& step) const {
    return step.kind == StepKind::recv_reduce && PartCombiner::suits(binding_->elements);
  }
  /// True if this process may help its peers: it has a processor of its own, and nothing to receive.
  [[nodiscard]] bool idle() const { return receiving_ == 0 && !binding_->route.node_peers->crowded(); }
  [[nodiscard]] std::size_t packed_size(const PlanStep& step) const;
  void fail(int error) {
    if (error_ == MPI_SUCCESS) error_ = error;
  }

  const Plan* plan_;
  const Binding* binding_ = nullptr;
  std::vector<End> ends_;    ///< by steps
  std::uint64_t range_ = 0;  ///< of the tags that ends_ is for
  std::uint32_t span_ = 0;   ///< likewise
  std::uint32_t changes_ = 0;
  int error_ = MPI_SUCCESS;
  int truncation_ = MPI_SUCCESS;
  std::vector<std::unique_ptr<Transfer>> transfers_;  ///< the first ones are under way
  std::size_t active_ = 0;
  std::size_t receiving_ = 0;  ///< of them
  std::vector<StepIndex> completed_;
  std::vector<StepIndex> lost_;  ///< receives from processes that have ended, in a call that can be interrupted
  std::vector<std::span<const std::byte>> from_;  ///< of all pieces of the plan, if some message has several
  std::vector<std::span<std::byte>> into_;
};

}  // namespace circoll::mpi
