// The calls of the API: blocking ones, and nonblocking and persistent ones behind a Request. No MPI request stands for
// those that Circoll serves: their owner asks them for their end.
#pragma once

#include <mpi.h>

#include "circoll/mpi.hpp"
#include "exec/mpi/call/call.hpp"
#include "exec/mpi/call/neighbor_call.hpp"
#include "exec/mpi/pending/callers_operator.hpp"
#include "exec/mpi/serve/bound_plan.hpp"

namespace circoll::mpi {

/// Executes a blocking call, after those that are under way on its communicator. Throws as perform() does with
/// Unserved::refuse, and MpiError.
void execute_owned(const Call& call, const InternedChoice& choice);
/// The same among neighbours, by "auto", "direct", "node_aware" or "native".
void execute_owned(const NeighborCall& call, const Choice& choice);

/// The kinds of calls that have a Request.
enum class RequestKind { nonblocking, persistent };

/// The request of the API for a nonblocking call, which has begun, or for a persistent call. Its operator is `op` if
/// that is one of a caller's. Making a persistent call is collective. Throws as perform() does with Unserved::refuse,
/// and MpiError.
[[nodiscard]] Request make_request(const Call& call, const Choice& choice, RequestKind kind,
                                   CallersOperator op = CallersOperator(nullptr));
[[nodiscard]] Request make_request(const NeighborCall& call, const Choice& choice, RequestKind kind);

}  // namespace circoll::mpi
