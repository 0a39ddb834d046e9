#include "exec/mpi/pending/owned_call.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/mpi.hpp"
#include "exec/mpi/call/kept_arguments.hpp"
#include "exec/mpi/pending/neighbor_requests.hpp"
#include "exec/mpi/pending/owned_work.hpp"
#include "exec/mpi/serve/known_calls.hpp"
#include "exec/mpi/serve/perform.hpp"

namespace circoll::mpi {
namespace {

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
  if (call.has_types) service.types = keep_types(call, size);
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
  auto owned = std::make_unique<Owned<PendingCall>>(call, state);
  Operation& operation = owned->operation();
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
    if (!operation.reserve_tags()) return native(call, choice, kind, too_many_requests);
  } else {
    throw_error(state.begin_open());
    operation.take_numbers();
    owned->start();
  }
  return {.owned = std::move(owned)};
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

// ---- among neighbours

struct ChoiceForNeighbors {
  const InternedChoice& interned;
  bool by_name;  ///< an error if it cannot serve the call
};

ChoiceForNeighbors choice_for(NeighborFunction function, const Choice& choice) {
  const std::string_view text = choice.text();
  const InternedChoice* const found =
      choice.selection() != nullptr ? nullptr : neighbor_choice(text.empty() ? "auto" : text);
  if (found == nullptr) {
    throw Error(ErrorCode::unknown_name, "'" + (text.empty() ? choice.selection()->text() : std::string(text)) +
                                             "' is no choice for " + std::string(to_string(function)) +
                                             ", which has auto, direct, node_aware and native");
  }
  return {*found, found->kind == InternedChoice::Kind::algorithm};
}

/// Throws Error(invalid_argument) if the arguments are wrong.
void require_valid(const NeighborCall& call) {
  require(call.comm != MPI_COMM_NULL, "the communicator is MPI_COMM_NULL");
  const auto neighborhood = find_neighborhood(call.comm, rank_of(call.comm), size_of(call.comm));
  require(neighborhood.has_value(), "the communicator has no topology, or one that contradicts itself");
  NeighborSides sides;
  sides.read(call, *neighborhood);
  require(!sides.erroneous(*neighborhood, contract_of(call.function)),
          "a count is negative, a buffer or an array is NULL, MPI_IN_PLACE is given, a datatype is none or not "
          "committed, or a block of this rank to itself differs in size between the buffers");
}

/// The library's own call in place of ours, by `library()`, which returns an MPI error code.
template <typename Library>
int leave_to(const Library& library, const NeighborCall& call, bool by_name, std::string_view reason) {
  require_valid(call);
  if (by_name) throw Error(ErrorCode::unsupported, std::string(reason));
  const ReturnedErrors returned(call.comm);
  return library();
}

/// Prepares the first start. Returns why the library shall serve the call; empty if Circoll can.
std::string_view prepare_start(CommState& state, NeighborOperation& operation, RequestKind kind) {
  if (kind == RequestKind::persistent) {
    throw_error(operation.reserve_tags());
    if (!operation.has_tags()) return too_many_requests;
    throw_error(operation.hold_types());
  } else {
    throw_error(prepare_to_start(state, operation));
    operation.take_numbers();
  }
  return {};
}

Service serve(const NeighborCall& call, const Choice& choice, RequestKind kind) {
  const ChoiceForNeighbors chosen = choice_for(call.function, choice);
  const bool persistent = kind == RequestKind::persistent;
  Service service;
  const auto library = [&](std::string_view reason) {
    const auto make = [&] {
      return persistent ? init_native(call, service.of_neighbors, &service.native)
                        : start_native(call, service.of_neighbors, &service.native);
    };
    return leave_to(make, call, chosen.by_name, reason);
  };
  const NeighborNative native(library);
  const CallResult result =
      serve_among_neighbors(call, chosen.interned, native, [&](CommState& state, NeighborState& kept) -> CallResult {
        if (persistent) throw_error(make_ready(state));
        std::string_view why = persistent ? why_not_ready(state) : why_not_started(state);
        if (!why.empty()) return native_outcome(native(why), why);
        CommState::bury_released();
        std::unique_ptr<const NodeAwareWay> joined;
        if (persistent) throw_error(kept.find_joined(call, state, chosen.interned, &joined));
        const NeighborWay way = joined != nullptr ? joined->way() : kept.direct(contract_of(call.function));
        auto owned = std::make_unique<Owned<PendingNeighbor>>(call, state, way, kept.sides());
        why = prepare_start(state, owned->operation(), kind);
        if (!why.empty()) return native_outcome(native(why), why);
        if (!persistent) owned->start();
        service.owned = std::move(owned);
        return {};
      });
  throw_error(result.error);
  return service;
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
      error = service_.owned->error();
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

void finish_owned_calls(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || progress().pending() == 0) return;
  int error = MPI_SUCCESS;
  const CommState* const state = CommState::of(comm, &error);
  if (state == nullptr) return;
  while (progress().has(*state)) {
    if (progress().poll() == 0) sched_yield();
  }
}

Request request_of(Service service, RequestKind kind, CallersOperator op) {
  try {
    return Request(std::make_unique<MpiWork>(std::move(op), std::move(service), kind));
  } catch (const std::bad_alloc&) {
    // A call that has begun uses the service.
    const bool begun = kind == RequestKind::nonblocking;
    while (begun && service.owned != nullptr && !service.owned->over()) {
      if (progress().poll() == 0) sched_yield();
    }
    if (begun && service.native != MPI_REQUEST_NULL) PMPI_Wait(&service.native, MPI_STATUS_IGNORE);
    throw;
  }
}

void execute_owned(const Call& call, const InternedChoice& choice) {
  finish_owned_calls(call.comm);
  throw_error(perform(call, choice, Unserved::refuse).error);
}

void execute_owned(const NeighborCall& call, const Choice& choice) {
  finish_owned_calls(call.comm);
  const ChoiceForNeighbors chosen = choice_for(call.function, choice);
  NeighborArrays arrays;
  const auto library = [&](std::string_view reason) {
    return leave_to([&] { return call_native(call, arrays); }, call, chosen.by_name, reason);
  };
  throw_error(perform(call, chosen.interned, NeighborNative(library), false).error);
}

Request make_request(const NeighborCall& call, const Choice& choice, RequestKind kind) {
  if (kind == RequestKind::persistent) finish_owned_calls(call.comm);
  return request_of(serve(call, choice, kind), kind);
}

Request make_request(const Call& call, const Choice& choice, RequestKind kind, CallersOperator op) {
  const InternedChoice& interned = *intern(call.collective, choice);
  if (kind == RequestKind::persistent) finish_owned_calls(call.comm);  // waits for the other ranks, as a blocking call
  return request_of(serve(call, interned, kind), kind, std::move(op));
}

}  // namespace circoll::mpi
