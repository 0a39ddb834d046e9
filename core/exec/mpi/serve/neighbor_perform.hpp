// Serves neighbourhood collectives: the graph and the operations that a communicator keeps, and blocking calls.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "circoll/algorithm.hpp"
#include "exec/mpi/call/neighbor_call.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/neighbor_operation.hpp"
#include "exec/mpi/serve/perform.hpp"

namespace circoll::mpi {

/// The one algorithm, for reports. It is in no registry: its schedules depend on a graph.
[[nodiscard]] const Selection& neighbor_direct();
/// Why it serves a call.
inline constexpr std::string_view why_neighbor_direct = "each rank sends straight to its neighbours";

/// The library's own function for a call. Refers to `function`, and returns an MPI error code.
class NeighborNative {
 public:
  template <typename Function>
  explicit NeighborNative(const Function& function)
      : function_(&function), call_([](const void* f) { return (*static_cast<const Function*>(f))(); }) {}
  [[nodiscard]] int operator()() const { return call_(function_); }

 private:
  const void* function_;
  int (*call_)(const void*);
};

/// The result of a call.
struct NeighborResult {
  int error = MPI_SUCCESS;
  bool served = false;
  std::string_view reason{};  ///< why native, or why served
  Count bytes = 0;            ///< packed, of all that this rank sends; 0 of a native call
  double waited_s = 0;        ///< of a blocking call, if `timed`: while its messages were under way
  bool handled = false;       ///< the error handler has been called already, if there was an error
};
[[nodiscard]] NeighborResult left_to_library(const NeighborNative& native, std::string_view reason);

/// The memory of a communicator with a topology: its graph, the schedules of it, and operations of blocking calls.
class NeighborState final : public Attachment {
 public:
  static constexpr Slot slot = Slot::neighborhood;

  /// The graph; nullptr if there is none. Asks MPI once.
  [[nodiscard]] const Neighborhood* find(const CommState& state);
  /// After find(). Built once for each contract.
  [[nodiscard]] const Schedule& schedule(NeighborContract contract);
  /// An operation for a blocking call. One that has served a call of the same blocks is used again.
  [[nodiscard]] NeighborOperation& operation(const NeighborCall& call, CommState& state, NeighborSides sides);
  void clear() noexcept override {
    for (auto& kept : kept_) kept.reset();
  }

 private:
  bool asked_ = false;
  std::optional<Neighborhood> neighborhood_;
  std::array<std::optional<Schedule>, 2> schedules_;
  std::array<std::unique_ptr<NeighborOperation>, 8> kept_;
  std::size_t next_ = 0;
};

/// The facts that a call needs before it can begin.
struct FoundNeighbors {
  CommState* state = nullptr;
  const Neighborhood* neighborhood = nullptr;
  std::optional<NeighborSides> sides{};
  int error = MPI_SUCCESS;           ///< of MPI's functions, which have called the error handler
  std::string_view native_reason{};  ///< empty: Circoll serves the call
};
/// Only values that are equal on all ranks decide whether a call is native, and erroneous arguments. Does not wait for
/// other ranks.
[[nodiscard]] FoundNeighbors find_neighbors(const NeighborCall& call, const InternedChoice& choice);

/// Makes what the messages of a communicator need. It waits for the other ranks the first time. Returns an MPI error
/// code; afterwards state.usable() says whether calls can be served.
[[nodiscard]] int make_ready(CommState& state);
/// After make_ready(): why calls of this communicator are native; empty: they need not be. The same on all ranks.
[[nodiscard]] std::string_view why_not_ready(const CommState& state);

/// Executes a blocking call. A choice that is native leaves it to the library, and every other one serves it. Throws
/// Error and std::bad_alloc.
[[nodiscard]] NeighborResult perform(const NeighborCall& call, const InternedChoice& choice,
                                     const NeighborNative& native, bool timed);

}  // namespace circoll::mpi
