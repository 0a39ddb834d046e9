// Common parts of nonblocking and persistent calls.
#pragma once

#include <mpi.h>

#include <vector>

#include "exec/mpi/call/kept_arguments.hpp"
#include "exec/mpi/pending/completion_message.hpp"
#include "exec/mpi/pending/nonblocking.hpp"
#include "exec/mpi/pending/progress.hpp"

namespace circoll::mpi {

/// A call with everything that must live as long as it is under way.
class PendingCall : public Pending {
 public:
  PendingCall(const Call& call, CommState& state, const Observer& observer);

  /// Makes it another call's, if it is one to which the same applies (Operation::again).
  [[nodiscard]] bool again(const Call& call, const InternedChoice& choice) {
    return operation_.again(call, CallShape(call), choice);
  }
  void set_observer(const Observer& observer) {
    observer_ = observer;
    entered();
  }
  /// The collective that the program has called, for the observer.
  void set_collective(Collective asked) { ended_.collective = asked; }
  [[nodiscard]] Operation& operation() override { return operation_; }
  [[nodiscard]] CommState& comm_state() override { return state_; }
  void begun() noexcept override {
    if (observed()) ended_.inside_s = PMPI_Wtime() - ended_.begin_s;
  }

 protected:
  /// The call, or MPI_Start, has been entered now.
  void entered() {
    if (observed()) ended_.begin_s = PMPI_Wtime();
  }
  void set_persistent() { ended_.persistent = true; }
  void notify_observer() noexcept;
  /// Calls the communicator's error handler if there was an error. Returns the error.
  int call_errhandler() noexcept;

 private:
  [[nodiscard]] bool observed() const { return observer_.on_ended != nullptr; }

  KeptArguments held_;
  CommState& state_;
  std::vector<Count> counts_;
  Operation operation_;
  Observer observer_;
  Ended ended_{};
};

}  // namespace circoll::mpi
