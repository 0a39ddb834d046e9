#include "wrappers/survive/halted.hpp"

#include <cstring>
#include <memory>
#include <utility>

#include "exec/mpi/message/arena.hpp"
#include "exec/mpi/message/execution.hpp"

namespace circoll::mpi {

Halt Halted::stop(Operation& operation, const IsDead& is_dead) {
  Halt halt = operation.execution_->halt(is_dead);
  left_ = operation.execution_->take_abandoned();
  if (operation.phase_ != Operation::Phase::data) halt = {};
  operation.tags_.retire();
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

int execute_repair(const Operation& operation, const Schedule& schedule, const Route& route, bool halted,
                   const std::function<bool()>& give_up, const IsDead& is_dead) {
  const BoundPlan& before = *operation.plan();
  const Plan plan = before.bind_instead(schedule);
  Binding binding = Halted::binding_of(operation);
  const TypeInfo& info = binding.elements.info;
  const MessageTable messages(plan, operation.wire_type(), info);
  const MemoryDivision division(
      {.scratch = plan.scratch_bytes, .staging = messages.staging_bytes(), .temp = binding.elements.temp_bytes()});
  Arena memory(arenas());
  std::byte* const base = memory.acquire(static_cast<std::size_t>(division.bytes));
  const auto area = static_cast<std::size_t>(Area::scratch);
  if (halted && before.plan().scratch_bytes > 0) {
    std::memcpy(base, binding.base[area] + info.true_lb_bytes, static_cast<std::size_t>(before.plan().scratch_bytes));
  }
  binding.base[area] = reinterpret_cast<char*>(base) - info.true_lb_bytes;
  binding.staging = base + division.staging;
  binding.elements.temp = base + division.temp;
  binding.route = route;
  Execution execution(plan, messages);
  execution.start(binding);
  int rc = execution.wait();
  while (rc == interrupted && !give_up()) rc = execution.wait();
  if (rc == MPI_SUCCESS) return rc;
  if (rc == interrupted) {
    (void)execution.halt(is_dead);
  } else {
    execution.abandon();
  }
  if (std::vector<MPI_Request> left = execution.take_abandoned(); !left.empty())
    abandoned().add(std::move(left), memory.detach());
  return rc;
}

}  // namespace circoll::mpi
