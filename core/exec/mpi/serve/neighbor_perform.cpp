#include "exec/mpi/serve/neighbor_perform.hpp"

namespace circoll::mpi {
namespace {

CallResult execute(NeighborOperation& operation, bool timed) {
  double waited_s = 0;
  int error = MPI_SUCCESS;
  try {
    operation.start();
    const double begin_s = timed ? PMPI_Wtime() : 0;
    error = operation.wait();
    waited_s = timed ? PMPI_Wtime() - begin_s : 0;
  } catch (...) {
    operation.fail(MPI_ERR_INTERN);  // messages may be under way
    throw;
  }
  CallResult result = served_directly(operation, error);
  result.waited_s = waited_s;
  return result;
}

}  // namespace

const Selection& neighbor_direct() {
  static const Algorithm algorithm{.name = "direct", .summary = "each rank sends straight to its neighbours"};
  static const Selection selection{.algorithm = &algorithm, .collective = Collective::alltoall};
  return selection;
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

std::string_view NeighborState::read(const NeighborCall& call, CommState& state) {
  if (!asked_) neighborhood_ = find_neighborhood(state.user_comm(), state.rank(), state.size());
  asked_ = true;
  if (!neighborhood_) return "its communicator has no topology";
  sides_.read(call, *neighborhood_);
  if (!sides_.erroneous(*neighborhood_, contract_of(call.function))) return {};
  state.missed_call();  // the others may have made the call, and sent
  return "erroneous arguments";
}

const Schedule& NeighborState::schedule(NeighborContract contract) {
  std::optional<Schedule>& kept = schedules_.at(static_cast<std::size_t>(contract));
  if (!kept) kept = build_neighbor_direct(*neighborhood_, contract, own_blocks(*neighborhood_, contract));
  return *kept;
}

NeighborOperation& NeighborState::operation(const NeighborCall& call, CommState& state) {
  for (const auto& kept : kept_) {
    if (kept == nullptr || !kept->serves(call.function, sides_)) continue;
    kept->set_buffers(call.send.buffer, const_cast<void*>(call.recv.buffer));
    return *kept;
  }
  auto& place = kept_[next_++ % kept_.size()];
  place = std::make_unique<NeighborOperation>(call, state, schedule(contract_of(call.function)), sides_);
  return *place;
}

FoundCommunicator find_communicator(const NeighborCall& call, const InternedChoice& choice) {
  // All calls are served, or none. Where several edges lead from one rank to another, a library may take them in
  // another order, so that a later change would change results.
  constexpr bool from_the_first_one = true;
  return find_communicator({.collective = among_all(call.function), .comm = call.comm}, choice, from_the_first_one);
}

CallResult perform(const NeighborCall& call, const InternedChoice& choice, const NeighborNative& native, bool timed) {
  return serve_among_neighbors(call, choice, native, [&](CommState& state, NeighborState& kept) -> CallResult {
    if (const int rc = make_ready(state); rc != MPI_SUCCESS) return {.error = rc, .handled = true};
    if (const std::string_view why = why_not_ready(state); !why.empty()) return native_outcome(native(why), why);
    return execute(kept.operation(call, state), timed);
  });
}

}  // namespace circoll::mpi
