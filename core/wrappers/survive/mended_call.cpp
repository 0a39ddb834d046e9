#include "wrappers/survive/mended_call.hpp"

#include <cstring>
#include <memory>

#include "exec/mpi/message/arena.hpp"
#include "exec/mpi/message/execution.hpp"
#include "wrappers/survive/halted.hpp"

namespace circoll::mpi {

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
