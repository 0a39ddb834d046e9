// Copies of a message's pieces, one after another, to memory and back.
#pragma once

#include "circoll/plan.hpp"
#include "exec/mpi/message/channel.hpp"

namespace circoll::mpi {

/// Packs the pieces of a message. Returns an MPI error code.
[[nodiscard]] int pack_pieces(const Plan& plan, const PlanStep& step, const Binding& binding, std::byte* to);
/// Puts packed pieces back to their places.
[[nodiscard]] int unpack_pieces(const Plan& plan, const PlanStep& step, const Binding& binding, const std::byte* from);

}  // namespace circoll::mpi
