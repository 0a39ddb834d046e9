// Executes one collective call over MPI point-to-point, or passes it to the native collective. Calls with memory that
// only a device should touch go to the native collective on all ranks alike.
#pragma once

#include <memory>
#include <new>
#include <string_view>

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/bound_plan.hpp"
#include "exec/mpi/serve/known_calls.hpp"

namespace circoll::mpi {

/// The result of a call.
struct CallResult {
  int error = MPI_SUCCESS;                ///< MPI error code; no error handler has been called for it
  std::shared_ptr<const Selection> by{};  ///< what served it; none: the native collective
  std::string_view reason{};              ///< why native, or why this algorithm. Valid until the next call
  Count bytes = 0;                        ///< this rank's contribution or block (packed), the root's where it has none
  double waited_s = 0;                    ///< of a blocking call, if `timed`: while its messages were under way
  bool handled = false;                   ///< native: the error handler has been called already, if there was an error

  /// nullptr: the native collective. Lives as long as `by`.
  [[nodiscard]] const Selection* served() const { return by.get(); }
};

/// For CallResult::by: an algorithm that lives longer than the result, and that of a plan, which it keeps.
[[nodiscard]] inline std::shared_ptr<const Selection> refer_to(const Selection& selection) {
  return {std::shared_ptr<void>(), &selection};
}
[[nodiscard]] inline std::shared_ptr<const Selection> keep_served(const std::shared_ptr<BoundPlan>& plan) {
  return {plan, &plan->selection()};
}

/// The outcome of a native call that returned `error`. If it failed, its error handler may have freed the communicator,
/// and the plan with the reason.
[[nodiscard]] inline CallResult native_outcome(int error, std::string_view reason, Count bytes = 0) {
  if (error != MPI_SUCCESS) reason = "the native collective returned an error";
  return {.error = error, .reason = reason, .bytes = bytes, .handled = true};
}

/// The treatment of a call that the chosen algorithm cannot serve.
enum class Unserved {
  native,  ///< call the MPI library's own
  refuse,  ///< throw Error(unsupported, invalid_argument); an automatic choice may still be native
};

/// Facts about a call's communicator, before the call's arguments are read. Each call asks once.
struct FoundCommunicator {
  CommState* state = nullptr;
  int error = MPI_SUCCESS;           ///< of MPI's functions for communicators, which have called the error handler
  std::string_view native_reason{};  ///< empty: Circoll may serve the call
  bool counted = false;              ///< native, and counted if it succeeds (CommState::count_native)
  bool erroneous = false;
};
[[nodiscard]] FoundCommunicator find_communicator(const Call& call, const InternedChoice& choice,
                                                  bool has_request = false);

/// Prepares an operation on a communicator. Makes a carrier if the communicator has none (collective). Returns an MPI
/// error code, for which MPI has called the error handler.
[[nodiscard]] int find_service(Operation& operation, CommState& state, const InternedChoice& choice);

/// The outcome of an operation that was served. If the communicator `keeps` the operation, and with it the plan, the
/// outcome refers to the plan without counting.
[[nodiscard]] CallResult outcome_of(const Operation& operation, int error, bool keeps);

/// The memory of a call that will be native again; nullptr if nothing is known. It reads no arguments, and does not ask
/// MPI for the state of the communicator.
[[nodiscard]] inline const NativeCall* known_native(const Call& call, const InternedChoice& choice) {
  CommState* const state = CommState::last_used(call.comm);
  if (state == nullptr) return nullptr;
  KnownCalls* const known = state->find_attached<KnownCalls>();
  return known == nullptr ? nullptr : known->find(call, choice, *state).native;
}

/// Runs `serve`, which serves a call on a communicator, and passes on std::bad_alloc. Other ranks may have made the
/// call and have sent messages. So communicators that come later must not use its tags.
template <typename Serve>
auto with_memory(CommState& state, const Serve& serve) {
  try {
    return serve();
  } catch (const std::bad_alloc&) {
    state.missed_call();
    throw;
  }
}

/// Executes a call. Only values that are equal on all ranks decide whether it is native, and erroneous arguments. The
/// native collective reports those in its own way, unless `unserved` says to refuse them. Throws Error(internal,
/// transport) and std::bad_alloc.
[[nodiscard]] CallResult perform(const Call& call, const InternedChoice& choice, Unserved unserved = Unserved::native,
                                 bool timed = false);
/// The same where CommState::last_used(call.comm) is known to be `state`.
[[nodiscard]] CallResult perform(const Call& call, const InternedChoice& choice, Unserved unserved, bool timed,
                                 CommState* state);

/// Why such a call is native.
inline constexpr std::string_view in_device_memory = "a buffer is in device memory on some rank";

/// Tells whether a buffer of the call is in device memory on any of its ranks. Where such memory is expected, the ranks
/// ask one another once about each blocking call that would be served. It waits for the other ranks then. Returns an
/// MPI error code.
[[nodiscard]] int find_device_memory(const Call& call, const CommState& state, bool* found);

/// Why a nonblocking call must be native: it cannot wait for the other ranks' answers. Empty if it need not be native.
[[nodiscard]] std::string_view unanswered(const Call& call, const CommState& state);

}  // namespace circoll::mpi
