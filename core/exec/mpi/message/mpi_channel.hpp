// The channel of MPI's nonblocking point-to-point messages, and the messages of a plan as MPI sees them.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "circoll/plan.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/message/channel.hpp"

namespace circoll::mpi {

/// The message of one step as MPI gets it.
struct MpiMessage {
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< MPI_DATATYPE_NULL: the element type of the call
  int count = 0;
  bool owned = false;  ///< `type` was made for this plan
  Area area = Area::send;
  Count offset_bytes = 0;    ///< in `area`
  Count staging_bytes = -1;  ///< if not negative: the pieces are gathered at this offset of the staging memory
};

/// The messages of a plan, step by step. One MPI message per step:
///   one piece                      straight from memory
///   several pieces, small          packed into staging memory; also if they lie in several areas
///   several pieces, large          an indexed datatype
///   beyond 2^31 - 1 elements       a datatype of chunks
class MessageTable {
 public:
  /// Several pieces of at most this many bytes together are packed by us: cheaper than MPI's datatype engine.
  static constexpr Count pack_limit_bytes = 16 << 10;

  /// Pieces are bytes if `type` is MPI_BYTE, else elements of `type`. Throws Error(transport) if MPI refuses.
  MessageTable(const Plan& plan, MPI_Datatype type, const TypeInfo& info);
  ~MessageTable();
  MessageTable(const MessageTable&) = delete;
  MessageTable& operator=(const MessageTable&) = delete;

  [[nodiscard]] const MpiMessage& operator[](StepIndex step) const { return messages_[step]; }
  /// Messages that may be under way at the same time.
  [[nodiscard]] std::size_t messages() const { return message_count_; }
  [[nodiscard]] Count staging_bytes() const { return staging_bytes_; }

 private:
  void add(const Plan& plan, const PlanStep& step, MpiMessage& message);
  void add_single(const Piece& piece, MpiMessage& message) const;
  void add_indexed(std::span<const Piece> pieces, MpiMessage& message) const;

  MPI_Datatype type_;
  TypeInfo info_;
  bool typed_;
  Count extent_bytes_;
  Count unit_bytes_;  // packed bytes of a plan element
  Count staging_bytes_ = 0;
  std::size_t message_count_ = 0;
  std::vector<MpiMessage> messages_;
};

/// Messages by MPI_Isend and MPI_Irecv. Allocates in the constructor only.
class MpiChannel final : public Channel {
 public:
  MpiChannel(const Plan& plan, const MessageTable& messages);

  void start(const Binding& binding) override;
  bool begin(StepIndex step) override;
  [[nodiscard]] std::span<const StepIndex> poll() override {
    if (active_ == 0) return {};
    return poll_by(PMPI_Testsome);
  }
  /// poll() that waits inside MPI for one message at least, if one is under way.
  [[nodiscard]] std::span<const StepIndex> wait();
  [[nodiscard]] int error() const override { return error_; }
  [[nodiscard]] int truncation() const override { return truncation_; }
  void abandon() noexcept override { give_up(nullptr, nullptr); }
  void halt(Halt& halt, const IsDead& is_dead) override { give_up(&halt, &is_dead); }
  void add_awaited(std::vector<StepIndex>& steps) const override {
    for (std::size_t i = 0; i < static_cast<std::size_t>(active_); ++i) steps.push_back(steps_[i]);
  }
  /// After an error: the messages that were given up and are not complete. MPI may still use the memory of the
  /// execution for them. Allocates.
  [[nodiscard]] std::vector<MPI_Request> take_abandoned();
  [[nodiscard]] std::size_t memory_bytes() const;
  /// True if messages are under way, so that each poll() asks MPI.
  [[nodiscard]] bool active() const { return active_ > 0; }

 private:
  /// The type of MPI_Testsome and MPI_Waitsome.
  using Completion = int (*)(int, MPI_Request*, int*, int*, MPI_Status*);
  [[nodiscard]] std::span<const StepIndex> poll_by(Completion some);
  [[nodiscard]] int first_error(int completed);
  void give_up(Halt* halt, const IsDead* is_dead);
  [[nodiscard]] std::span<const StepIndex> collect(std::size_t completed);
  void check_length(const MpiMessage& message, const MPI_Status& status);
  void fail(int error);
  [[nodiscard]] bool is_receive(std::size_t request) const {
    return plan_->steps[steps_[request]].kind != StepKind::send;
  }

  const Plan* plan_;
  const MessageTable* messages_;
  const Binding* binding_ = nullptr;
  int error_ = MPI_SUCCESS;
  int truncation_ = MPI_SUCCESS;
  int active_ = 0;
  std::vector<MPI_Request> requests_;  // [0, active_) are under way
  std::vector<StepIndex> steps_;       // of the request at the same place
  std::vector<int> indices_;
  std::vector<StepIndex> completed_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace circoll::mpi
