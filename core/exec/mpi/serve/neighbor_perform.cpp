#include "exec/mpi/serve/neighbor_perform.hpp"

namespace circoll::mpi {
namespace {

NeighborResult execute(NeighborOperation& operation, bool timed) {
  NeighborResult result{.served = true, .reason = why_neighbor_direct, .bytes = operation.bytes()};
  try {
    operation.start();
    const double begin_s = timed ? PMPI_Wtime() : 0;
    result.error = operation.wait();
    result.waited_s = timed ? PMPI_Wtime() - begin_s : 0;
  } catch (...) {
    operation.fail(MPI_ERR_INTERN);  // messages may be under way
    throw;
  }
  return result;
}

}  // namespace

const Selection& neighbor_direct() {
  static const Algorithm algorithm{.name = "direct", .summary = "each rank sends straight to its neighbours"};
  static const Selection selection{.algorithm = &algorithm, .collective = Collective::alltoall};
  return selection;
}

NeighborResult left_to_library(const NeighborNative& native, std::string_view reason) {
  const int error = native();
  if (error != MPI_SUCCESS) reason = "the native collective returned an error";
  return {.error = error, .reason = reason, .handled = true};
}

int make_ready(CommState& state) {
  if (!state.has_carrier()) {
    if (const int rc = state.make_carrier(); rc != MPI_SUCCESS || !state.usable()) return rc;
  }
  return state.open();
}

std::string_view why_not_ready(const CommState& state) {
  if (!state.usable()) return state.unusable_reason();
  return state.expects_devices() ? "buffers may be in device memory, of which neighbours do not tell one another" : "";
}

const Neighborhood* NeighborState::find(const CommState& state) {
  if (!std::exchange(asked_, true)) neighborhood_ = find_neighborhood(state.user_comm(), state.rank(), state.size());
  return neighborhood_ ? &*neighborhood_ : nullptr;
}

const Schedule& NeighborState::schedule(NeighborContract contract) {
  std::optional<Schedule>& kept = schedules_.at(static_cast<std::size_t>(contract));
  if (!kept) kept = build_neighbor_direct(*neighborhood_, contract, own_blocks(*neighborhood_, contract));
  return *kept;
}

NeighborOperation& NeighborState::operation(const NeighborCall& call, CommState& state, NeighborSides sides) {
  for (const auto& kept : kept_) {
    if (kept == nullptr || !kept->serves(call.function, sides)) continue;
    kept->set_buffers(call.send.buffer, const_cast<void*>(call.recv.buffer));
    return *kept;
  }
  auto& place = kept_[next_++ % kept_.size()];
  place = std::make_unique<NeighborOperation>(call, state, schedule(contract_of(call.function)), std::move(sides));
  return *place;
}

FoundNeighbors find_neighbors(const NeighborCall& call, const InternedChoice& choice) {
  const Call stand_in{.collective = among_all(call.function), .comm = call.comm};
  // All calls are served, or none. Where several edges lead from one rank to another, a library may take them in
  // another order, so that a later change would change results.
  constexpr bool from_the_first_one = true;
  const FoundCommunicator communicator = find_communicator(stand_in, choice, from_the_first_one);
  FoundNeighbors found{
      .state = communicator.state, .error = communicator.error, .native_reason = communicator.native_reason};
  if (found.error != MPI_SUCCESS || !found.native_reason.empty()) return found;
  CommState& state = *found.state;
  found.neighborhood = state.attached<NeighborState>().find(state);
  if (found.neighborhood == nullptr) {
    found.native_reason = "its communicator has no topology";
    return found;
  }
  found.sides.emplace(call, *found.neighborhood);
  if (found.sides->erroneous(*found.neighborhood, contract_of(call.function))) {
    state.missed_call();  // the others may have made the call, and sent
    found.native_reason = "erroneous arguments";
  }
  return found;
}

NeighborResult perform(const NeighborCall& call, const InternedChoice& choice, const NeighborNative& native,
                       bool timed) {
  FoundNeighbors found = find_neighbors(call, choice);
  if (found.error != MPI_SUCCESS) return {.error = found.error, .handled = true};
  if (!found.native_reason.empty()) return left_to_library(native, found.native_reason);
  CommState& state = *found.state;
  return with_memory(state, [&]() -> NeighborResult {
    if (const int rc = make_ready(state); rc != MPI_SUCCESS) return {.error = rc, .handled = true};
    if (const std::string_view why = why_not_ready(state); !why.empty()) return left_to_library(native, why);
    NeighborState& kept = state.attached<NeighborState>();
    return execute(kept.operation(call, state, *std::move(found.sides)), timed);
  });
}

}  // namespace circoll::mpi
