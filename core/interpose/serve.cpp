#include "interpose/serve.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/pending/neighbor_requests.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "interpose/serving.hpp"
#include "interpose/state.hpp"

namespace circoll::interpose {

namespace {

// Collectives among all ranks, and among neighbours.

const mpi::InternedChoice& choice_of(const State& state, const mpi::Call& call) { return state.choice(call); }
const mpi::InternedChoice& choice_of(const State& state, const mpi::NeighborCall& /*call*/) {
  return state.neighbor_choice();
}

CalledCollective called(const mpi::NeighborCall& call) { return call.function; }

bool is_survived(const mpi::Call& call) { return !call.has_types; }
bool is_survived(const mpi::NeighborCall& /*call*/) { return false; }

Count bytes_in(const mpi::Call& call) { return mpi::described_bytes(call); }
Count bytes_in(const mpi::NeighborCall& /*call*/) { return 0; }

/// Why no such call can be served, the same on all ranks; empty if calls can.
template <typename AnyCall>
std::string_view left_because(const State& state, const AnyCall& call, Mode mode) {
  if (!is_survived(call)) [[unlikely]] {
    if (const Serving* const wrapper = Serving::first(); wrapper != nullptr && wrapper->ends_waiting())
      return "CIRCOLL_FAULTS is on, and alltoallw and neighbourhood collectives are not survived";
  }
  return mode == Mode::blocking ? std::string_view() : state.progress().unavailable();
}

/// A call that has been served while the program waited, or that is native. A native call has only begun, unless it
/// blocks.
template <typename AnyCall>
void record(State& state, const AnyCall& call, Mode mode, const mpi::CallResult& outcome, double begin_s) {
  const double end_s = PMPI_Wtime();
  int ranks = 0;
  // A call that failed may have lost its communicator. An MPICH 5 returns MPI_SUCCESS after the user's error handler.
  const bool succeeded = outcome.error == MPI_SUCCESS && call.comm != MPI_COMM_NULL;
  if (succeeded) PMPI_Comm_size(call.comm, &ranks);
  // The executor has not read the arguments of a call that is native by its own variable. This reads them, and only a
  // run that records events pays for it.
  const bool unread = outcome.served() == nullptr && outcome.bytes == 0 && succeeded;
  state.record({.collective = called(call),
                .mode = mode,
                .ranks = ranks,
                .served = outcome.served(),
                .reason = outcome.reason,
                .bytes = unread ? bytes_in(call) : outcome.bytes,
                .begin_s = begin_s,
                .end_s = end_s,
                .inside_s = end_s - begin_s,
                .own_s = outcome.served() == nullptr ? 0 : end_s - begin_s - outcome.waited_s});
}

/// Keeps a call that has returned, to be played again. The call has succeeded, whatever happens here.
template <typename AnyCall>
void keep(CallTracer& calls, const AnyCall& call, Mode mode, const mpi::CallResult& outcome, double begin_s,
          const MPI_Request* request) noexcept {
  try {
    calls.add(call, mode, outcome, begin_s, PMPI_Wtime(), request);
  } catch (...) {
    return;
  }
}

/// A nonblocking or persistent operation that Progress has brought to its end.
void record_ended(const mpi::Ended& ended) noexcept {
  Serving* const wrapper = Serving::first();
  if (ended.ticket != 0 && wrapper != nullptr) wrapper->ended(ended);
  State* const state = State::known();
  if (state == nullptr) return;
  if (Recorder* const recorder = state->recorder(); recorder != nullptr && ended.recorded != 0)
    recorder->ended(ended.recorded, ended.persistent, ended.outcome.served(), ended.outcome.error);
  if (!state->recording()) return;
  state->record({.collective = ended.collective,
                 .mode = ended.persistent ? Mode::persistent : Mode::nonblocking,
                 .ranks = ended.size,
                 .served = ended.outcome.served(),
                 .reason = ended.outcome.reason,
                 .bytes = ended.outcome.bytes,
                 .begin_s = ended.begin_s,
                 .end_s = PMPI_Wtime(),
                 .inside_s = ended.inside_s,
                 .own_s = ended.inside_s,
                 .thread = ended.thread});
}

/// True once a sum has been announced that is left to the MPI library in spite of CIRCOLL_SUM.
std::atomic<bool> said_native_sum{false};

/// True if nobody serves, counts or looks at a blocking call. That is known of collectives whose choice is native, and
/// of communicators that cannot be served, such as those of one rank. There the first sum of CIRCOLL_SUM is announced.
template <typename AnyCall>
bool is_left_alone(const State& state, const AnyCall& call, const mpi::CommState* comm) {
  if (state.recording() || !state.has_agreed() || Serving::first() != nullptr) return false;
  const mpi::InternedChoice& choice = choice_of(state, call);
  if (comm == nullptr || comm->usable()) return choice.kind == mpi::InternedChoice::Kind::native;
  return choice.sums == prepare::Sums::plain || said_native_sum;
}

/// Says once that a sum may not have the bits that CIRCOLL_SUM promises. One contribution is its own sum, and two have
/// one order, so that they differ at most in NaN and by the settings of the processor.
void say_left_native(const mpi::Call& call, const mpi::CallResult& outcome, prepare::Sums sums) {
  int rank = 0, size = 1, inter = 0;
  if (outcome.error != MPI_SUCCESS || call.comm == MPI_COMM_NULL || said_native_sum) return;
  if (PMPI_Comm_test_inter(call.comm, &inter) != MPI_SUCCESS) return;
  PMPI_Comm_size(call.comm, &size);
  PMPI_Comm_rank(call.comm, &rank);
  const int alike = sums == prepare::Sums::exact ? 1 : 2;
  if ((size <= alike && inter == 0) || said_native_sum.exchange(true) || rank != 0) return;
  std::fprintf(stderr, "circoll: CIRCOLL_SUM: a sum by %s is left to the MPI library: %s\n",
               std::string(to_string(call.collective)).c_str(), std::string(outcome.reason).c_str());
}

/// Serves an entry point by `perform(state, choice, comm, recorded)`, which returns a CallResult, or by `native()`,
/// which returns an error code. `recorded` is the call's number in the record of this rank. `request` is where the call
/// puts its request; nullptr if it blocks.
template <typename AnyCall, typename Perform, typename Native>
int serve_entry_point(const AnyCall& call, Mode mode, const MPI_Request* request, const void* caller, Perform&& perform,
                      Native&& native) noexcept {
  int error = MPI_ERR_INTERN;
  try {
    State* const state = State::get();
    if (state == nullptr) return native();
    RecordedCall recorded(state->recorder(), call, mode);
    mpi::CommState* const comm = mode == Mode::blocking ? mpi::CommState::last_used(call.comm) : nullptr;
    if (mode == Mode::blocking && is_left_alone(*state, call, comm)) {
      error = native();
      recorded.end(mode, nullptr, error);
      return error;
    }
    if (mode == Mode::blocking && call.comm == MPI_COMM_WORLD) state->agree_once();
    if (Serving* const wrapper = Serving::first(); wrapper != nullptr) [[unlikely]] {
      if (const int refused = wrapper->admit(call, mode, caller); refused != MPI_SUCCESS) {
        recorded.end(mode, nullptr, refused);
        return refused;
      }
    }
    const double begin = state->recording() ? PMPI_Wtime() : 0;
    const mpi::InternedChoice& choice = choice_of(*state, call);
    const std::string_view reason = left_because(*state, call, mode);
    const mpi::CallResult outcome =
        reason.empty() ? perform(*state, choice, comm, recorded.sequence()) : mpi::native_outcome(native(), reason);
    recorded.end(mode, outcome.served(), outcome.error);
    if (mode == Mode::persistent && outcome.error == MPI_SUCCESS) recorded.made(*request, outcome.served() != nullptr);
    if constexpr (std::is_same_v<AnyCall, mpi::Call>) {
      if (choice.sums != prepare::Sums::plain && outcome.served() == nullptr) [[unlikely]]
        say_left_native(call, outcome, choice.sums);
    }
    // Of a served call that does not block, Progress tells when it is over.
    const bool over = mode == Mode::blocking || outcome.served() == nullptr;
    if (state->recording() && over) record(*state, call, mode, outcome, begin);
    if (CallTracer* const calls = state->calls(); calls != nullptr) [[unlikely]] {
      if (state->recording() && outcome.error == MPI_SUCCESS && call.comm != MPI_COMM_NULL)
        keep(*calls, call, mode, outcome, begin, request);
    }
    if (outcome.error == MPI_SUCCESS || outcome.handled) return outcome.error;
    error = outcome.error;
  } catch (const std::bad_alloc&) {
    error = MPI_ERR_NO_MEM;
  } catch (...) {
    error = MPI_ERR_INTERN;  // a broken invariant
  }
  PMPI_Comm_call_errhandler(call.comm, error);
  return error;
}

/// Tells a wrapper that nobody serves a nonblocking call that it wants to see the end of.
void say_native(Serving* wrapper, std::uint64_t ticket) {
  if (ticket == 0) return;
  mpi::Ended native;
  native.ticket = ticket;
  wrapper->ended(native);
}

/// The choice for a call that does not block.
const mpi::InternedChoice& chosen(const mpi::Call& call, const mpi::InternedChoice& choice) {
  Serving* const wrapper = Serving::first();
  return wrapper == nullptr ? choice : wrapper->choose(call, choice);
}

}  // namespace

mpi::Observer observer(const State& state, std::uint64_t recorded) {
  if (!state.recording() && recorded == 0) return {};
  return {.on_ended = record_ended, .thread = thread_number(), .recorded = recorded};
}

int serve(const mpi::Call& call, const void* caller) noexcept {
  return serve_entry_point(
      call, Mode::blocking, nullptr, caller,
      [&](State& state, const mpi::InternedChoice& choice, mpi::CommState* comm, std::uint64_t /*recorded*/) {
        if (Serving* const wrapper = Serving::first(); wrapper != nullptr) [[unlikely]] {
          return wrapper->perform(call, choice, state.recording());
        }
        return mpi::perform(call, choice, mpi::Unserved::native, state.recording(), comm);
      },
      [&] { return mpi::call_native(call); });
}

int start(const mpi::Call& call, MPI_Request* request, const void* caller) noexcept {
  return serve_entry_point(
      call, Mode::nonblocking, request, caller,
      [&](State& state, const mpi::InternedChoice& choice, mpi::CommState* /*comm*/, std::uint64_t recorded) {
        mpi::Observer watching = observer(state, recorded);
        Serving* const wrapper = Serving::first();
        if (wrapper != nullptr) watching.ticket = wrapper->ticket();
        if (watching.ticket != 0) watching.on_ended = record_ended;
        mpi::CallResult outcome = mpi::start(call, chosen(call, choice), request, watching);
        if (outcome.served() == nullptr) say_native(wrapper, watching.ticket);
        return outcome;
      },
      [&] {
        const int error = mpi::start_native(call, request);
        if (Serving* const wrapper = Serving::first(); wrapper != nullptr) say_native(wrapper, wrapper->ticket());
        return error;
      });
}

int init(const mpi::Call& call, MPI_Info info, MPI_Request* request, const void* caller) noexcept {
  return serve_entry_point(
      call, Mode::persistent, request, caller,
      [&](State& state, const mpi::InternedChoice& choice, mpi::CommState* /*comm*/, std::uint64_t recorded) {
        return mpi::init(call, chosen(call, choice), info, request, observer(state, recorded));
      },
      [&] { return mpi::init_native(call, info, request); });
}

int serve(const mpi::NeighborCall& call, const mpi::NeighborNative& native, const void* caller) noexcept {
  return serve_entry_point(
      call, Mode::blocking, nullptr, caller,
      [&](const State& state, const mpi::InternedChoice& choice, mpi::CommState* /*comm*/, std::uint64_t /*recorded*/) {
        return mpi::perform(call, choice, native, state.recording());
      },
      [&] { return native({}); });
}

int start(const mpi::NeighborCall& call, const mpi::NeighborNative& native, MPI_Request* request,
          const void* caller) noexcept {
  return serve_entry_point(
      call, Mode::nonblocking, request, caller,
      [&](const State& state, const mpi::InternedChoice& choice, mpi::CommState* /*comm*/, std::uint64_t recorded) {
        return mpi::start(call, choice, native, request, observer(state, recorded));
      },
      [&] { return native({}); });
}

int init(const mpi::NeighborCall& call, const mpi::NeighborNative& native, MPI_Request* request,
         const void* caller) noexcept {
  return serve_entry_point(
      call, Mode::persistent, request, caller,
      [&](const State& state, const mpi::InternedChoice& choice, mpi::CommState* /*comm*/, std::uint64_t recorded) {
        return mpi::init(call, choice, native, request, observer(state, recorded));
      },
      [&] { return native({}); });
}

bool start_ours(MPI_Request request, int* error) noexcept {
  try {
    return mpi::start_persistent(request, error);
  } catch (...) {
    *error = MPI_ERR_INTERN;
    return true;
  }
}

double start_begins() noexcept {
  State* const state = State::known();
  return state != nullptr && state->recording() && state->calls() != nullptr ? PMPI_Wtime() : 0;
}

void keep_start(MPI_Request request, double begin_s) noexcept {
  State* const state = State::known();
  CallTracer* const calls = state != nullptr ? state->calls() : nullptr;
  if (calls == nullptr) return;
  try {
    calls->add_start(request, begin_s, PMPI_Wtime());
  } catch (...) {
    return;  // it has succeeded
  }
}

void forget_request(MPI_Request request) noexcept {
  State* const state = State::known();
  CallTracer* const calls = state != nullptr ? state->calls() : nullptr;
  if (calls != nullptr) calls->forget(request);
}

}  // namespace circoll::interpose
