// The bound plans of the process: communicators that are alike share them.
#pragma once

#include <memory>

#include "exec/mpi/serve/bound_plan.hpp"

namespace circoll::mpi {

/// The plan of a signature, made if there is none. It is nullptr if another thread is just looking for one and `wait`
/// is false. CIRCOLL_CACHE_BYTES bounds what is kept. Thread-safe. Throws as BoundPlan.
[[nodiscard]] std::shared_ptr<BoundPlan> find_plan(const Signature& signature, MPI_Datatype type, const TypeInfo& info,
                                                   const Placement& placement, bool wait);

}  // namespace circoll::mpi
