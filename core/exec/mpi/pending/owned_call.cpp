#include "exec/mpi/pending/owned_call.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/mpi.hpp"
#include "exec/mpi/call/kept_arguments.hpp"
#include "exec/mpi/pending/pending_call.hpp"
#include "exec/mpi/pending/progress.hpp"
#include "exec/mpi/serve/known_calls.hpp"
#include "exec/mpi/serve/perform.hpp"

namespace circoll::mpi {
namespace {

/// A served call. Its owner keeps it until it is over, and gets its error, for which no handler is called.
class OwnedCall final : public PendingCall {
 public:
  OwnedCall(const Call& call, CommState& state) : PendingCall(call, state, {}) { state.retain(); }
  ~OwnedCall() override { comm_state().release(); }

  /// Begins it, again if it is persistent and over.
  void start() {
    over_.store(false, std::memory_order_relaxed);
    progress().add(*this);
  }
  [[nodiscard]] bool over() const { return over_.load(std::memory_order_acquire); }

  [[nodiscard]] MPI_Request request() const override { return MPI_REQUEST_NULL; }
  void finished() noexcept override { over_.store(true, std::memory_order_release); }

 private:
  std::atomic<bool> over_{false};
};

/// The service of a nonblocking or persistent call: a call of ours, or the library's request.
struct Service {
  std::unique_ptr<OwnedCall> owned{};
  MPI_Request native = MPI_REQUEST_NULL;
  // The arrays of a native call, which the library may read until the request is over.
  std::vector<Count> wide{};
  std::vector<int> narrow{};
};

void throw_error(int error) {
  if (error != MPI_SUCCESS) throw MpiError(error);
}

/// Keeps the arrays of a native call. They are of int if all numbers are, as nonblocking calls of some libraries need
/// them. On an intercommunicator the blocks are those of the other group, except in reduce_scatter.
void keep_arrays(Call& call, Service& service) {
  if (!is_irregular(call.collective)) return;
  int inter = 0, rank = MPI_ROOT, size = 1;
  throw_error(PMPI_Comm_test_inter(call.comm, &inter));
  if (inter == 0) throw_error(PMPI_Comm_rank(call.comm, &rank));
  const bool others = inter != 0 && call.collective != Collective::reduce_scatter;
  throw_error(others ? PMPI_Comm_remote_size(call.comm, &size) : PMPI_Comm_size(call.comm, &size));
  service.wide = keep_arrays(call, rank, size);
  const auto fits = [](Count number) { return std::in_range<int>(number); };
  if (!std::ranges::all_of(service.wide, fits) || !fits(call.sendcount) || !fits(call.recvcount)) return;
  for (const Count number : service.wide) service.narrow.push_back(static_cast<int>(number));
  for (const auto array : std::array{&Call::sendcounts, &Call::recvcounts, &Call::senddispls, &Call::recvdispls}) {
    if (!(call.*array)) continue;
    call.*array = service.narrow.data() + (static_cast<const Count*>((call.*array).data()) - service.wide.data());
  }
}

/// The library's own call, unless an algorithm was asked for by name or the arguments are wrong.
Service native(Call call, const InternedChoice& choice, RequestKind kind, std::string_view reason) {
  require_valid(call);
  if (choice.kind == InternedChoice::Kind::algorithm) throw Error(ErrorCode::unsupported, std::string(reason));
  const ReturnedErrors returned(call.comm);
  Service service;
  keep_arrays(call, service);
  throw_error(kind == RequestKind::persistent ? init_native(call, MPI_INFO_NULL, &service.native)
                                              : start_native(call, &service.native));
  return service;
}

Service serve_on(CommState& state, const Call& call, const InternedChoice& choice, RequestKind kind) {
  Service service{.owned = std::make_unique<OwnedCall>(call, state)};
  Operation& operation = service.owned->operation();
  if (kind == RequestKind::persistent) {
    throw_error(find_service(operation, state, choice));
  } else {
    if (operation.erroneous()) state.missed_call();
    (void)operation.prepare(choice);
  }
  if (operation.erroneous()) refuse_arguments(call);
  if (!operation.served()) return native(call, choice, kind, operation.reason());
  if (kind == RequestKind::persistent) {
    bool in_device = false;
    throw_error(find_device_memory(call, state, &in_device));
    if (in_device) return native(call, choice, kind, in_device_memory);
    return operation.reserve_tags() ? std::move(service) : native(call, choice, kind, "too many persistent requests");
  }
  throw_error(state.begin_open());
  operation.take_numbers();
  service.owned->start();
  return service;
}

Service serve(const Call& call, const InternedChoice& choice, RequestKind kind) {
  const FoundCommunicator found = find_communicator(call, choice, true);
  throw_error(found.error);
  if (!found.native_reason.empty()) return native(call, choice, kind, found.native_reason);
  if (kind == RequestKind::nonblocking && !found.state->serves_nonblocking()) {
    return native(call, choice, kind,
                  "its communicator has no tags yet, and the call must not wait for the other ranks");
  }
  if (kind == RequestKind::nonblocking) {
    if (const std::string_view why = unanswered(call, *found.state); !why.empty())
      return native(call, choice, kind, why);
  }
  CommState::bury_released();
  const RewrittenCall rewritten(call, choice, *found.state);
  return serve_on(*found.state, rewritten.call(), rewritten.choice(), kind);
}

/// Waits until no nonblocking or persistent call is under way on a communicator.
void finish_owned_calls(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || progress().pending() == 0) return;
  int error = MPI_SUCCESS;
  const CommState* const state = CommState::of(comm, &error);
  if (state == nullptr) return;
  while (progress().has(*state)) {
    if (progress().poll() == 0) sched_yield();
  }
}

/// Polls of a waiting rank before it lets others run.
constexpr int polls_before_yield = 100;

/// A call behind a Request.
class MpiWork final : public Request::Work {
 public:
  MpiWork(CallersOperator op, Service service, RequestKind kind)
      : op_(std::move(op)), kind_(kind), active_(kind == RequestKind::nonblocking), service_(std::move(service)) {}

  ~MpiWork() override {
    try {
      if (active_) wait();
    } catch (...) {  // its error has nowhere to go
    }
    if (service_.native != MPI_REQUEST_NULL) PMPI_Request_free(&service_.native);
  }

  void start() override {
    if (service_.owned != nullptr) {
      service_.owned->start();
    } else {
      throw_error(PMPI_Start(&service_.native));
    }
    active_ = true;
  }

  [[nodiscard]] bool test() override {
    progress().poll();
    int error = MPI_SUCCESS;
    if (service_.owned != nullptr) {
      if (!service_.owned->over()) return false;
      error = service_.owned->operation().error();
    } else {
      int ended = 0;
      error = PMPI_Test(&service_.native, &ended, MPI_STATUS_IGNORE);
      if (error == MPI_SUCCESS && ended == 0) return false;
    }
    active_ = false;
    op_.rethrow();
    throw_error(error);
    return true;
  }

  void wait() override {
    for (int polls = 0; !test(); ++polls) {
      if (polls >= polls_before_yield) sched_yield();
    }
  }

  [[nodiscard]] bool active() const override { return active_; }
  [[nodiscard]] bool persistent() const override { return kind_ == RequestKind::persistent; }

 private:
  CallersOperator op_;  // before the call that needs it
  RequestKind kind_;
  bool active_;
  Service service_;
};

}  // namespace

void execute_owned(const Call& call, const InternedChoice& choice) {
  finish_owned_calls(call.comm);
  throw_error(perform(call, choice, Unserved::refuse).error);
}

Request make_request(const Call& call, const Choice& choice, RequestKind kind, CallersOperator op) {
  const InternedChoice& interned = *intern(call.collective, choice);
  if (kind == RequestKind::persistent) finish_owned_calls(call.comm);  // waits for the other ranks, as a blocking call
  Service service = serve(call, interned, kind);
  return Request(std::make_unique<MpiWork>(std::move(op), std::move(service), kind));
}

}  // namespace circoll::mpi
