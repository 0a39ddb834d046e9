// Irregular calls that are another collective in disguise.
#pragma once

#include <optional>

#include "exec/mpi/call.hpp"
#include "exec/mpi/choices.hpp"
#include "exec/mpi/communicator.hpp"
#include "exec/mpi/operation.hpp"

namespace circoll::mpi {

/// A reduce_scatter of which one rank gets everything is a reduce to that rank (Traff et al., guideline (6)). The call of that
/// reduce, or nothing if several ranks get something, or none. The same on all ranks, as counts are, but where the
/// buffers are an error that the native call is to report: the other ranks do not see it. O(p).
[[nodiscard]] std::optional<Call> as_reduce(const Call& call, Rank rank, Rank size);

/// What a reduce_scatter with counts that are all equal, and not 0, is remembered by: that count in place of the array, which the program
/// may change. Not a call to be made. Nothing for other calls. The same on all ranks, as counts are. O(p).
[[nodiscard]] std::optional<Call> with_one_count(const Call& call, Rank size);

/// Remembers a call that `operation` has found to be native, if it means the same whenever it is made.
void remember_native(CommState& state, const Call& call, const Interned& choice, const Operation& operation);

/// Returns serve(call, choice), or that of the call and the choice that these amount to: a policy decides about a reduce_scatter
/// to one rank as about a reduce. An algorithm that was chosen by name is kept. Where the call, that reduce, or a reduce_scatter of
/// equal counts is known to be native, returns native(what it is, what is known).
template <typename Serve, typename Native>
auto serve_as_meant(const Call& call, const Interned& choice, CommState& state, const Serve& serve,
                    const Native& native) {
  if (const NativeCalls::Known* const known = state.native_calls().find(call, choice)) return native(call, *known);
  if (call.collective == Collective::reduce_scatter && choice.kind == Interned::Kind::automatic &&
      !choice.policy->names_algorithm()) {
    if (const auto reduce = as_reduce(call, state.rank(), state.size())) {
      const Interned& by = *intern(Collective::reduce, *choice.policy);
      const NativeCalls::Known* const known = state.native_calls().find(*reduce, by);
      return known != nullptr ? native(*reduce, *known) : serve(*reduce, by);
    }
    if (const auto key = with_one_count(call, state.size())) {
      if (const NativeCalls::Known* const known = state.native_calls().find(*key, choice)) return native(call, *known);
    }
  }
  return serve(call, choice);
}

}  // namespace circoll::mpi
