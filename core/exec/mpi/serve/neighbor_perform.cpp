#include "exec/mpi/serve/neighbor_perform.hpp"

namespace circoll::mpi {
namespace {

CallResult run(NeighborOperation& operation, bool timed) {
  double waited_s = 0;
  const int error = operation.run(timed ? &waited_s : nullptr);
  CallResult result = outcome_of(operation, error);
  result.waited_s = waited_s;
  return result;
}

}  // namespace

const InternedChoice* neighbor_choice(std::string_view word) {
  if (word == "direct") return intern(Collective::alltoall, "linear");
  if (word == "auto" || word == "node_aware" || word == "native") return intern(Collective::alltoall, word);
  return nullptr;
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

NeighborWay NeighborState::direct(NeighborContract contract) {
  std::optional<Schedule>& kept = schedules_.at(static_cast<std::size_t>(contract));
  if (!kept) kept = build_neighbor_direct(*neighborhood_, contract, own_blocks(*neighborhood_, contract));
  return direct_way(*kept, sides_);
}

int NeighborState::find_joined(const NeighborCall& call, const CommState& state, const InternedChoice& choice,
                               std::unique_ptr<const NodeAwareWay>* found) {
  if (!admits_node_aware(choice, state)) return MPI_SUCCESS;
  return find_node_aware(*neighborhood_, contract_of(call.function), sides_, state, choice, found);
}

CallResult NeighborState::execute(const NeighborCall& call, CommState& state, const InternedChoice& choice,
                                  bool timed) {
  const NeighborContract contract = contract_of(call.function);
  const auto make = [&](const NeighborWay& way) {
    return std::make_unique<NeighborOperation>(call, state, way, sides_);
  };
  const auto straight = [&] {
    return run(operations_.find(call, sides_, [&] { return make(direct(contract)); }), timed);
  };
  if (!admits_node_aware(choice, state)) return straight();
  NodeAwareCalls& calls = calls_of(call, choice);
  if (const int rc = calls.begin(*neighborhood_, contract, sides_, state, choice); rc != MPI_SUCCESS)
    return {.error = rc, .handled = true};
  const double begin_s = PMPI_Wtime();
  const NodeAwareWay* const way = calls.way();
  CallResult result = way == nullptr ? straight()
                      : calls.known()
                          ? run(calls.operations().find(call, sides_, [&] { return make(way->way()); }), timed)
                          : execute_changed(call, *neighborhood_, sides_, state, *way);
  calls.end(PMPI_Wtime() - begin_s);
  return result;
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
    return kept.execute(call, state, choice, timed);
  });
}

}  // namespace circoll::mpi
