// Calls that amount to another collective, or to another call of their own.
#pragma once

#include <optional>

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/bound_plan.hpp"
#include "exec/mpi/serve/known_calls.hpp"
#include "exec/mpi/serve/operation.hpp"

namespace circoll::mpi {

/// The reduce that a reduce_scatter amounts to if one rank gets everything (Traff et al., guideline (6)). Nothing if
/// several ranks get something, or none. The same on all ranks, as counts are, but where the buffers are an error that
/// the native call is to report: the other ranks do not see it. O(p).
[[nodiscard]] std::optional<Call> as_reduce(const Call& call, Rank rank, Rank size);

/// The key by which a reduce_scatter is remembered if its counts are all equal and not 0. That count stands in place of
/// the array, which the program may change. It is not a call to be made. Nothing for other calls. The same on all
/// ranks, as counts are. O(p).
[[nodiscard]] std::optional<Call> with_one_count(const Call& call, Rank size);

/// Remembers a call that `operation` has found to be native, if it means the same whenever it is made.
void remember_native(KnownCalls& known, const Call& call, const InternedChoice& choice, const Operation& operation);

/// The call that serves a call, and what is known of it. A policy decides about a reduce_scatter to one
/// rank as about a reduce; an algorithm that was chosen by name is kept. Refers to its arguments.
class Meaning {
 public:
  Meaning(const Call& call, const InternedChoice& choice, CommState& state);
  Meaning(const Meaning&) = delete;
  Meaning& operator=(const Meaning&) = delete;

  [[nodiscard]] const Call& call() const { return *call_; }
  [[nodiscard]] const InternedChoice& choice() const { return *choice_; }
  [[nodiscard]] const Known& known() const { return known_; }

 private:
  const Call* call_;
  const InternedChoice* choice_;
  Known known_;
  std::optional<Call> reduce_;
};

}  // namespace circoll::mpi
