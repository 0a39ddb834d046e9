#include "wrappers/survive/halted.hpp"

#include <utility>

#include "exec/mpi/message/arena.hpp"

namespace circoll::mpi {

Halt Halted::stop(Operation& operation, const IsDead& is_dead) {
  Halt halt = operation.execution_->halt(is_dead);
  left_ = operation.execution_->take_abandoned();
  if (operation.phase_ != Operation::Phase::data) halt = {};
  operation.tags_.spoil();
  operation.lasting_ = false;
  return halt;
}

Halt Halted::stop_before_start(Operation& operation) {
  operation.error_ = MPI_SUCCESS;
  operation.lasting_ = false;
  if (operation.counts_.due() || !operation.bind_data()) return {};
  const std::vector<bool> none(operation.plan_->plan().steps.size(), false);
  return {.ended = none, .torn = none};
}

int Halted::end(Operation& operation, bool has_result) {
  operation.phase_ = Operation::Phase::idle;
  operation.error_ =
      has_result ? operation.user_.after(operation.recv_staging_, operation.binding_.elements) : MPI_ERR_OTHER;
  operation.end_call();
  if (!left_.empty()) abandoned().add(std::move(left_), operation.memory_.detach());
  left_.clear();
  return operation.error_;
}

}  // namespace circoll::mpi
