// The channel of MPI's nonblocking point-to-point messages.
#pragma once

#include <mpi.h>

#include <vector>

#include "exec/mpi/message/channel.hpp"
#include "exec/mpi/message/message_table.hpp"

namespace circoll::mpi {

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
  void add_awaited(std::vector<Rank>& peers) const override {
    for (std::size_t i = 0; i < static_cast<std::size_t>(active_); ++i) peers.push_back(plan_->steps[steps_[i]].peer);
  }
  /// After an error: the messages that were given up and are not complete. MPI may still use the memory of the
  /// execution for them. Allocates.
  [[nodiscard]] std::vector<MPI_Request> take_abandoned();
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  /// The type of MPI_Testsome and MPI_Waitsome.
  using Completion = int (*)(int, MPI_Request*, int*, int*, MPI_Status*);
  [[nodiscard]] std::span<const StepIndex> poll_by(Completion some);
  [[nodiscard]] int first_error(int completed);
  void give_up(Halt* halt, const IsDead* is_dead);
  [[nodiscard]] std::span<const StepIndex> collect(std::size_t completed);
  void check_length(const Message& message, const MPI_Status& status);
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
