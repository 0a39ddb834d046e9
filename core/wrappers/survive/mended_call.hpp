// The execution of a repair, in the memory that a halted operation has left.
#pragma once

#include <functional>

#include "circoll/schedule.hpp"
#include "exec/mpi/comm/route.hpp"
#include "exec/mpi/serve/operation.hpp"

namespace circoll::mpi {

/// Executes this rank's schedule of a repair. `halted`: the scratch memory of the operation is as it was; else the
/// schedule reads nothing there. Interrupted, it goes on unless `give_up()`. Returns an MPI error, or `interrupted`.
[[nodiscard]] int execute_repair(const Operation& operation, const Schedule& schedule, const Route& route, bool halted,
                                 const std::function<bool()>& give_up, const IsDead& is_dead);

}  // namespace circoll::mpi
