// An operation that a failure has interrupted, and the execution of a repair in the memory that it has left.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "circoll/schedule.hpp"
#include "exec/mpi/comm/route.hpp"
#include "exec/mpi/serve/operation.hpp"

namespace circoll::mpi {

/// A friend of operations: it stops one, and keeps its memory from being used again until the call has ended.
class Halted {
 public:
  /// Stops an operation that was interrupted: nothing is written any more, and its tags are not used again. Says how
  /// far the data came, or nothing if counts were still being exchanged. Then end() is due.
  [[nodiscard]] Halt stop(Operation& operation, const IsDead& is_dead);
  /// Instead of a start: the memory is made ready, and nothing begins, as if it had been stopped at once.
  [[nodiscard]] static Halt stop_before_start(Operation& operation);
  /// Ends it. With a result, which some other schedule has put where its own would have, the caller gets it. Returns an
  /// MPI error code.
  int end(Operation& operation, bool has_result);

  [[nodiscard]] static const Binding& binding_of(const Operation& operation) { return operation.binding_; }
  [[nodiscard]] static const CallerBuffers& user_of(const Operation& operation) { return operation.user_; }

 private:
  std::vector<MPI_Request> left_{};  ///< MPI may still use the memory
};

/// Executes this rank's schedule of a repair. `halted`: the scratch memory of the operation is as it was; else the
/// schedule reads nothing there. Interrupted, it goes on unless `give_up()`. Returns an MPI error, or `interrupted`.
[[nodiscard]] int execute_repair(const Operation& operation, const Schedule& schedule, const Route& route, bool halted,
                                 const std::function<bool()>& give_up, const IsDead& is_dead);

}  // namespace circoll::mpi
