// Runs a plan over channels, and looks after executions that have no news.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "circoll/plan.hpp"
#include "exec/mpi/comm/stalls.hpp"
#include "exec/mpi/message/channel.hpp"
#include "exec/mpi/message/in_order_path.hpp"
#include "exec/mpi/message/mpi_channel.hpp"
#include "exec/mpi/message/node_channel.hpp"
#include "plan/engine.hpp"

namespace circoll::mpi {

/// Looks after an execution that has no news. It asks the ranks for which the execution waits, and ends an execution
/// that can never end. The thread that advances the execution uses it.
class Stall {
 public:
  /// Polls without news from one look to the next.
  static constexpr std::uint64_t polls = 256;

  /// Looks at the clock and at what others have answered. `first`: there has been news since the last look. `awaited`
  /// says whom the execution waits for. Returns an MPI error code if the calls are certain not to match.
  [[nodiscard]] int look(const Binding& binding, bool first,
                         const std::function<std::vector<Rank>()>& awaited) noexcept;

 private:
  [[nodiscard]] int judge(const Binding& binding, const StallAnswer& answer);
  [[nodiscard]] int conclude(const Binding& binding, const StallAnswer& answer);

  Stalls::Clock::time_point since_{};
  Stalls::Clock::time_point next_question_{};
  std::uint64_t questions_before_ = 0;
  StallAnswer suspect_{};  ///< the first answer that speaks of the end, if its verdict is not `unknown`
};

/// One execution of a plan, from start() until progress() says that it is done; then it may be started again.
/// Several executions of one plan may be under way, each with its own object and memory. Allocates in the
/// constructor and in add_channel() only.
class Execution {
 public:
  Execution(const Plan& plan, const MessageTable& messages);

  /// Adds a channel beside MPI's, which is number 0: the first is number 1. Route::channel_of says whom they serve. By
  /// itself an execution adds that of the node when it has node peers.
  void add_channel(std::unique_ptr<Channel> channel) { others_.push_back(std::move(channel)); }

  /// Begins everything that waits for nothing. The binding lives until the execution is over.
  void start(const Binding& binding);
  /// Asks the channels once for news and goes on with what waited for it. True if the execution is over: everything
  /// done, or an error.
  bool progress() {
    if (advance(false)) return true;
    idle_ = news_ ? 0 : idle_ + 1;
    if (idle_ % Stall::polls == 0 && idle_ != 0) look_for_stall();
    return false;
  }
  /// progress() until it is over. Returns an MPI error code, or `interrupted`: it may be waited for again, or halted.
  int wait();
  /// Ends an execution that was interrupted, once nothing is written any more, and says how far it came. A process that
  /// is dead is not waited for. Allocates.
  [[nodiscard]] Halt halt(const IsDead& is_dead);
  /// The MPI error code of the first failure, or of a message that was longer than expected.
  [[nodiscard]] int error() const;
  /// After an error: whether all messages have been sent and received nevertheless.
  [[nodiscard]] bool complete() const { return !failed() && engine_.done() && !mpi_.leaves_parts(); }
  /// Gives up messages that are under way. Receives have ended when it returns, unless MPI cannot end them.
  void abandon() noexcept;
  /// After an error: the MPI messages that were given up and are not complete. MPI may still use the memory of the
  /// execution for them. Allocates.
  [[nodiscard]] std::vector<MPI_Request> take_abandoned() { return mpi_.take_abandoned(); }
  [[nodiscard]] std::size_t memory_bytes() const;

  /// Begins a step for the engine; true if it has ended already.
  bool begin(StepIndex step);

 private:
  /// The way in which an execution goes on.
  enum class Way : std::uint8_t {
    engine,
    straight,  ///< the list is being gone through, and the engine has nothing to do
    ended,     ///< along the list: no message can have failed
  };

  [[nodiscard]] bool advance(bool inside_mpi);
  /// Finds out whether the list serves this execution.
  [[nodiscard]] bool may_go_straight();
  /// Goes on along the list. False: it has stopped at a message that has not come.
  bool go_in_order(InOrderPath::LookLimits patience);
  /// advance() has had no news so many times.
  void wait_a_little(std::uint64_t idle);
  /// There has been no news for a multiple of Stall::polls polls. May end the execution with an error.
  void look_for_stall();
  /// The steps whose messages are under way.
  [[nodiscard]] std::vector<StepIndex> awaited_steps() const;
  /// Notes for whom this rank waits (comm/long_waits.hpp).
  void note_wait() const noexcept;
  void collect(std::span<const StepIndex> ended);
  /// Asked at every step and every poll, so that most executions compare two numbers.
  [[nodiscard]] bool failed() const {
    if (error_ != MPI_SUCCESS || mpi_.error() != MPI_SUCCESS) return true;
    if (node_ != nullptr) return node_->error() != MPI_SUCCESS;
    return !others_.empty() && failure_of_others() != MPI_SUCCESS;
  }
  [[nodiscard]] int failure_of_others() const;
  [[nodiscard]] int truncation() const;

  const Plan* plan_;
  Engine engine_;
  const Binding* binding_ = nullptr;
  int error_ = MPI_SUCCESS;  ///< of local steps, or a failure that MPI tells of
  bool news_ = false;        ///< whether the last advance() has had any
  Way way_ = Way::engine;
  std::uint64_t idle_ = 0;  ///< polls without news, in a row
  Stall stall_;
  MpiChannel mpi_;
  std::vector<std::unique_ptr<Channel>> others_;
  NodeChannel* node_ = nullptr;  ///< the first of others_, if it is the one of its own; called without a table
  InOrderPath in_order_;
  std::uint32_t straight_for_ = ~std::uint32_t{0};  ///< NodeChannel::changes(), or 0: whose ends the list has
};

}  // namespace circoll::mpi
