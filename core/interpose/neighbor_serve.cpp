#include "interpose/neighbor_serve.hpp"

#include <new>
#include <string_view>

#include "exec/mpi/pending/neighbor_requests.hpp"
#include "interpose/serve.hpp"
#include "interpose/serving.hpp"
#include "interpose/state.hpp"

namespace circoll::interpose {
namespace {

void record(State& state, const mpi::NeighborCall& call, Mode mode, const mpi::NeighborResult& result, double begin_s) {
  const double end_s = PMPI_Wtime();
  int ranks = 0;
  if (result.error == MPI_SUCCESS && call.comm != MPI_COMM_NULL) PMPI_Comm_size(call.comm, &ranks);
  state.record({.collective = among_all(call.function),
                .neighbor = call.function,
                .mode = mode,
                .ranks = ranks,
                .served = result.served ? &mpi::neighbor_direct() : nullptr,
                .reason = result.reason,
                .bytes = result.bytes,
                .begin_s = begin_s,
                .end_s = end_s,
                .inside_s = end_s - begin_s,
                .own_s = result.served ? end_s - begin_s - result.waited_s : 0});
}

/// Why no such call can be served, the same on all ranks; empty if calls can.
std::string_view left_because(const State& state, Mode mode) {
  // Survivors know how to finish collectives among all ranks only.
  if (const Serving* const wrapper = Serving::first(); wrapper != nullptr && wrapper->ends_waiting())
    return "CIRCOLL_FAULTS is on, and neighbourhood collectives are not survived";
  return mode == Mode::blocking ? std::string_view() : state.progress().unavailable();
}

/// Serves by `perform(state, choice)`, which returns a NeighborResult.
template <typename Perform>
int serve_as(Mode mode, const mpi::NeighborCall& call, const mpi::NeighborNative& native, const void* caller,
             const Perform& perform) noexcept {
  int error = MPI_ERR_INTERN;
  try {
    State* const state = State::get();
    if (state == nullptr) return native();
    if (Serving* const wrapper = Serving::first(); wrapper != nullptr) [[unlikely]] {
      if (const int refused = wrapper->admit(call, mode, caller); refused != MPI_SUCCESS) return refused;
    }
    const double begin_s = state->recording() ? PMPI_Wtime() : 0;
    const std::string_view reason = left_because(*state, mode);
    const mpi::NeighborResult result =
        reason.empty() ? perform(*state, state->neighbor_choice()) : mpi::left_to_library(native, reason);
    // Of a served call that does not block, Progress tells when it is over.
    if (state->recording() && (mode == Mode::blocking || !result.served)) record(*state, call, mode, result, begin_s);
    if (result.error == MPI_SUCCESS || result.handled) return result.error;
    error = result.error;
  } catch (const std::bad_alloc&) {
    error = MPI_ERR_NO_MEM;
  } catch (...) {
    error = MPI_ERR_INTERN;  // a broken invariant
  }
  PMPI_Comm_call_errhandler(call.comm, error);
  return error;
}

}  // namespace

int serve_neighbor(const mpi::NeighborCall& call, const mpi::NeighborNative& native, const void* caller) noexcept {
  return serve_as(Mode::blocking, call, native, caller, [&](State& state, const mpi::InternedChoice& choice) {
    return mpi::perform(call, choice, native, state.recording());
  });
}

int start_neighbor(const mpi::NeighborCall& call, const mpi::NeighborNative& native, MPI_Request* request,
                   const void* caller) noexcept {
  return serve_as(Mode::nonblocking, call, native, caller, [&](State& state, const mpi::InternedChoice& choice) {
    return mpi::start(call, choice, native, request, observer(state));
  });
}

int init_neighbor(const mpi::NeighborCall& call, const mpi::NeighborNative& native, MPI_Request* request,
                  const void* caller) noexcept {
  return serve_as(Mode::persistent, call, native, caller, [&](State& state, const mpi::InternedChoice& choice) {
    return mpi::init(call, choice, native, request, observer(state));
  });
}

}  // namespace circoll::interpose
