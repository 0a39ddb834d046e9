#include "exec/mpi/perform.hpp"

#include <algorithm>

#include "circoll/error.hpp"
#include "exec/mpi/communicator.hpp"
#include "exec/mpi/globals.hpp"
#include "exec/mpi/user_buffers.hpp"

namespace circoll::mpi {
namespace {

Outcome native(const Call& call, std::string_view reason, Count bytes = 0) {
  Outcome outcome{.reason = reason, .bytes = bytes, .handled = true};
  outcome.error = call_native(call);
  return outcome;
}

Outcome not_served(const Call& call, const Interned& choice, Otherwise otherwise, std::string_view reason,
                   Count bytes) {
  if (otherwise == Otherwise::refuse && choice.kind == Interned::Kind::algorithm) {
    throw Error(ErrorCode::unsupported, std::string(reason));
  }
  return native(call, reason, bytes);
}

BoundPlan& find_plan(CommState& state, const Signature& signature, MPI_Datatype type, const TypeInfo& info) {
  return state.plans().find(signature, [&](std::list<BoundPlan>& plans, std::uint64_t hash) {
    plans.emplace_front(signature, hash, state.rank(), type, info, state.tag_span());
  });
}

int execute(CommState& state, BoundPlan& plan, Binding& binding) {
  const CommState::Tags tags = state.next_tags();
  binding.comm = state.comm();
  binding.tag_base = tags.base;
  binding.tag_span = tags.span;
  Execution& execution = *plan.execution();
  execution.start(binding);
  return execution.wait();
}

constexpr Count aligned(Count bytes) {
  constexpr Count alignment = ArenaPool::alignment;
  return (bytes + alignment - 1) / alignment * alignment;
}

std::span<Count> counts_at(std::byte* data, std::size_t count) { return {reinterpret_cast<Count*>(data), count}; }

/// The counts, in packed bytes, of all blocks that will pass through this rank, into state.counts(): p of gatherv and
/// scatterv, of alltoallv those of the prologue's known blocks.
int exchange_counts(CommState& state, BoundPlan& plan, const UserBuffers& user) {
  const CountPrologue& prologue = *plan.prologue();
  const Count send = aligned(static_cast<Count>(prologue.send_counts() * sizeof(Count)));
  const Count recv = aligned(static_cast<Count>(prologue.recv_counts() * sizeof(Count)));
  const Count scratch = aligned(static_cast<Count>(prologue.scratch_counts() * sizeof(Count)));
  const Count staging = aligned(plan.staging_bytes());
  const Arena arena(globals().arenas, static_cast<std::size_t>(send + recv + scratch + staging));
  const auto send_counts = counts_at(arena.data(), prologue.send_counts());
  const auto recv_counts = counts_at(arena.data() + send, prologue.recv_counts());
  const auto scratch_counts = counts_at(arena.data() + send + recv, prologue.scratch_counts());
  std::vector<Count>& counts = state.counts();
  const std::vector<Block>& known = prologue.known_blocks();
  counts.resize(std::max(static_cast<std::size_t>(state.size()), known.size()));
  const std::span<Count> own(counts.data(), static_cast<std::size_t>(state.size()));
  user.known_counts(own);
  prologue.fill(user.own_bytes(), own, send_counts, recv_counts, scratch_counts);
  Binding binding;
  binding.base = {reinterpret_cast<char*>(send_counts.data()), reinterpret_cast<char*>(recv_counts.data()),
                  reinterpret_cast<char*>(scratch_counts.data())};
  binding.staging = arena.data() + send + recv + scratch;
  binding.elements.extent_bytes = sizeof(Count);
  const int rc = execute(state, plan, binding);
  if (rc != MPI_SUCCESS) return rc;
  if (known.empty()) {
    prologue.collect(send_counts, recv_counts, scratch_counts, counts);
  } else {
    prologue.collect_known(send_counts, recv_counts, scratch_counts, counts);
  }
  return user.admits(known, counts) ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

/// Memory of one execution, in one block: scratch, staged messages, a temporary of user operators, and the
/// packed forms of the caller's buffers where those have gaps.
int run(CommState& state, BoundPlan& plan, const UserBuffers& user) {
  const Elements& described = user.elements();
  const bool user_operator = is_reducing(user.call().collective) && described.kernel == nullptr;
  const Count scratch = aligned(plan.plan().scratch_bytes);
  const Count staging = aligned(plan.staging_bytes());
  const Count temp = user_operator ? aligned(Elements::temp_bytes_for(described.info)) : 0;
  const Count send = aligned(user.send_staging_bytes());
  const Count recv = aligned(user.recv_staging_bytes());
  const Arena arena(globals().arenas, static_cast<std::size_t>(scratch + staging + temp + send + recv));
  std::byte* const base = arena.data();
  Binding binding;
  binding.elements = described;
  binding.elements.temp = base + scratch + staging;
  binding.elements.temp_elements = user_operator ? Elements::temp_elements_for(described.info) : 0;
  binding.staging = base + scratch;
  std::byte* const send_staging = base + scratch + staging + temp;
  std::byte* const recv_staging = send_staging + send;
  // Elements may begin before their address (negative lower bound) or after it.
  binding.base = {user.send_base(send_staging), user.recv_base(recv_staging),
                  reinterpret_cast<char*>(base) - described.info.true_lb_bytes};
  int rc = user.before(send_staging, recv_staging);
  if (rc != MPI_SUCCESS) return rc;
  rc = execute(state, plan, binding);
  if (rc != MPI_SUCCESS) return rc;
  return user.after(recv_staging, binding.elements);
}

}  // namespace

Outcome perform(const Call& call, const Interned& choice, Otherwise otherwise) {
  if (choice.kind == Interned::Kind::native) return native(call, "chosen");
  if (call.comm == MPI_COMM_NULL) return native(call, "erroneous arguments");
  int error = MPI_SUCCESS;
  CommState* const state = CommState::of(call.comm, &error);
  if (error != MPI_SUCCESS) return Outcome{.error = error, .handled = true};  // by the functions of MPI that failed
  if (state == nullptr) return native(call, "MPI_Finalize has begun");
  if (!state->usable()) return not_served(call, choice, otherwise, state->unusable_reason(), 0);

  UserBuffers user(call, state->rank(), state->size());
  if (user.erroneous()) {
    // Other ranks may not see it, and number their executions.
    for (int executions = user.needs_prologue() ? 2 : 1; executions > 0; --executions) (void)state->next_tags();
    return native(call, "erroneous arguments");
  }
  const Count bytes = user.own_bytes();
  if (!user.unsupported().empty()) return not_served(call, choice, otherwise, user.unsupported(), bytes);

  Signature signature = user.signature(choice);
  if (user.needs_prologue()) {
    BoundPlan& prologue = find_plan(*state, user.prologue_signature(choice), MPI_BYTE, {});
    if (!prologue.native_reason().empty()) {
      return not_served(call, choice, otherwise, prologue.native_reason(), bytes);
    }
    if (prologue.prologue() != nullptr) {
      const int rc = exchange_counts(*state, prologue, user);
      if (rc != MPI_SUCCESS) return Outcome{.error = rc, .served = &prologue.selection(), .bytes = bytes};
      const std::vector<Count>& counts = state->counts();
      signature.counts = {.values = CountArray::wide(counts.data()), .size = static_cast<Rank>(counts.size())};
      signature.send_counts = {};
      signature.blocks = prologue.prologue()->known_blocks();
    }
  }
  BoundPlan& plan = find_plan(*state, signature, user.wire_type(), user.elements().info);
  if (plan.execution() == nullptr) return not_served(call, choice, otherwise, plan.native_reason(), bytes);
  return Outcome{.error = run(*state, plan, user), .served = &plan.selection(), .bytes = bytes};
}

}  // namespace circoll::mpi
