// Serves neighbourhood collectives: the graph and the operations that a communicator keeps, and blocking calls.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "circoll/algorithm.hpp"
#include "exec/mpi/call/neighbor_call.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/neighbor_operation.hpp"
#include "exec/mpi/serve/node_aware_neighbors.hpp"
#include "exec/mpi/serve/perform.hpp"

namespace circoll::mpi {

/// The meaning of "auto", "direct", "node_aware" and "native"; nullptr for another word. A choice by name is that of
/// the alltoall whose messages go so.
[[nodiscard]] const InternedChoice* neighbor_choice(std::string_view word);

/// The memory of a communicator with a topology: its graph, the schedules of it, and operations of blocking calls.
class NeighborState final : public Attachment {
 public:
  static constexpr Slot slot = Slot::neighborhood;

  /// Reads a call. Returns why it is native; empty: sides() has its blocks. Only values that are equal on all ranks
  /// decide that, and erroneous arguments. Asks MPI for the graph once, and does not wait for other ranks.
  [[nodiscard]] std::string_view read(const NeighborCall& call, CommState& state);
  [[nodiscard]] const NeighborSides& sides() const { return sides_; }
  /// After read(): each rank sends straight to its neighbours.
  [[nodiscard]] NeighborWay direct(NeighborContract contract);
  /// After read(): joined messages for a persistent request, if they are predicted to pay (find_node_aware).
  [[nodiscard]] int find_joined(const NeighborCall& call, const CommState& state, const InternedChoice& choice,
                                std::unique_ptr<const NodeAwareWay>* found);
  /// Executes the blocking call that read() has read. Throws Error and std::bad_alloc.
  [[nodiscard]] CallResult execute(const NeighborCall& call, CommState& state, const InternedChoice& choice,
                                   bool timed);
  void clear() noexcept override {
    operations_.clear();
    for (NodeAwareCalls& calls : node_aware_) calls.operations().clear();
  }

 private:
  [[nodiscard]] NodeAwareCalls& calls_of(const NeighborCall& call, const InternedChoice& choice) {
    return node_aware_.at(2 * static_cast<std::size_t>(call.function) + (is_named(choice) ? 1 : 0));
  }

  bool asked_ = false;
  std::optional<Neighborhood> neighborhood_;
  NeighborSides sides_;  ///< of the last call; its memory serves the next one
  std::array<std::optional<Schedule>, 2> schedules_;
  NeighborOperations operations_;                                             ///< of direct()
  std::array<NodeAwareCalls, 2 * all_neighbor_functions.size()> node_aware_;  ///< by function, and by name or not
};

/// The communicator of a call, as find_communicator() has it.
[[nodiscard]] FoundCommunicator find_communicator(const NeighborCall& call, const InternedChoice& choice);

/// Serves a call by `serve(state, kept)`, which returns a CallResult, unless the call is native. A native choice leaves
/// it to the library, and every other one serves it. Passes on Error and std::bad_alloc.
template <typename Serve>
[[nodiscard]] CallResult serve_among_neighbors(const NeighborCall& call, const InternedChoice& choice,
                                               const NeighborNative& native, const Serve& serve) {
  const FoundCommunicator found = find_communicator(call, choice);
  if (found.error != MPI_SUCCESS) return {.error = found.error, .handled = true};
  if (!found.native_reason.empty()) return native_outcome(native(found.native_reason), found.native_reason);
  CommState& state = *found.state;
  return with_memory(state, [&] {
    NeighborState& kept = state.attached<NeighborState>();
    const std::string_view why = kept.read(call, state);
    return why.empty() ? serve(state, kept) : native_outcome(native(why), why);
  });
}

/// Makes what the messages of a communicator need. It waits for the other ranks the first time. Returns an MPI error
/// code; afterwards state.usable() says whether calls can be served.
[[nodiscard]] int make_ready(CommState& state);
/// After make_ready(): why calls of this communicator are native; empty: they need not be. The same on all ranks.
[[nodiscard]] std::string_view why_not_ready(const CommState& state);

/// The outcome of a call that was served.
[[nodiscard]] inline CallResult outcome_of(const NeighborOperation& operation, int error = MPI_SUCCESS) {
  return {.error = error, .by = refer_to(operation.by()), .reason = operation.why(), .bytes = operation.bytes()};
}

/// Executes a blocking call. Throws Error and std::bad_alloc.
[[nodiscard]] CallResult perform(const NeighborCall& call, const InternedChoice& choice, const NeighborNative& native,
                                 bool timed);

}  // namespace circoll::mpi
