// Runs a plan over nonblocking point-to-point messages.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "circoll/plan.hpp"
#include "exec/mpi/operators.hpp"
#include "exec/mpi/route.hpp"
#include "plan/engine.hpp"

namespace circoll::mpi {

/// How one step's message is handed to MPI.
struct Message {
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

  [[nodiscard]] const Message& operator[](StepIndex step) const { return messages_[step]; }
  [[nodiscard]] std::size_t size() const { return messages_.size(); }
  /// Messages that may be under way at the same time.
  [[nodiscard]] std::size_t messages() const { return message_count_; }
  [[nodiscard]] Count staging_bytes() const { return staging_bytes_; }

 private:
  void add(const Plan& plan, const PlanStep& step, Message& message);
  void add_single(const Piece& piece, Message& message) const;
  void add_indexed(std::span<const Piece> pieces, Message& message) const;

  MPI_Datatype type_;
  TypeInfo info_;
  bool typed_;
  Count extent_bytes_;
  Count unit_bytes_;  // packed bytes of a plan element
  Count staging_bytes_ = 0;
  std::size_t message_count_ = 0;
  std::vector<Message> messages_;
};

/// What an execution works on; addresses may differ from one execution of a plan to the next.
struct Binding {
  std::array<char*, 3> base{};  ///< by Area; sends are only read
  std::byte* staging = nullptr;
  Route route{};
  Elements elements{};
};

/// One execution of a plan, from start() until progress() says that it is done; then it may be started again.
/// Several executions of one plan may be under way, each with its own object and memory. Allocates in the
/// constructor only.
class Execution {
 public:
  /// Polls without news before the core is offered to other processes by sched_yield. Ranks that outnumber
  /// the cores wait for one another; with a core each, a yield costs some twenty polls, and comes too early if the other
  /// rank is only a little late.
  static constexpr int polls_before_yield = 64;
  /// Where time is simulated it passes in MPI's own waiting only.
#ifdef CIRCOLL_SIMULATED
  static constexpr bool waits_inside_mpi = true;
#else
  static constexpr bool waits_inside_mpi = false;
#endif

  Execution(const Plan& plan, const MessageTable& messages);

  /// Posts everything that waits for nothing.
  void start(const Binding& binding);
  /// Asks MPI once for completed messages and goes on with what waited for them. True if the execution is
  /// over: everything done, or an error.
  bool progress();
  /// progress() until it is over. Returns an MPI error code.
  int wait();
  [[nodiscard]] int error() const { return error_ != MPI_SUCCESS ? error_ : truncation_; }
  /// After an error: whether all messages have been sent and received nevertheless.
  [[nodiscard]] bool complete() const { return error_ == MPI_SUCCESS && engine_.done(); }
  /// Gives up messages that are under way. Receives have ended when it returns, unless MPI cannot end them.
  void abandon() noexcept;
  /// After an error: what was given up and is not complete. MPI may still use the memory of the execution for it. Allocates.
  [[nodiscard]] std::vector<MPI_Request> take_abandoned();
  [[nodiscard]] std::size_t memory_bytes() const;

  // For the engine.
  void local(StepIndex step);
  bool post(StepIndex step);

 private:
  /// As MPI_Testsome and MPI_Waitsome are.
  using Completion = int (*)(int, MPI_Request*, int*, int*, MPI_Status*);
  [[nodiscard]] bool progress_by(Completion some);
  [[nodiscard]] char* address(Area area, Count offset) const {
    return binding_.base[static_cast<std::size_t>(area)] + offset;
  }
  [[nodiscard]] int first_error(int completed);
  void collect(int completed);
  void stage_out(const PlanStep& step, const Message& message);
  void stage_in(const PlanStep& step, const Message& message);
  void fail(int error);
  [[nodiscard]] bool is_receive(std::size_t request) const {
    return plan_->steps[steps_[request]].kind == StepKind::recv;
  }

  const Plan* plan_;
  const MessageTable* messages_;
  Engine engine_;
  Binding binding_{};
  int error_ = MPI_SUCCESS;
  int truncation_ = MPI_SUCCESS;  ///< of messages longer than expected; the execution goes on
  int active_ = 0;
  std::vector<MPI_Request> requests_;  // [0, active_) are under way
  std::vector<StepIndex> steps_;       // of the request at the same place
  std::vector<int> indices_;
  std::vector<StepIndex> completed_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace circoll::mpi
