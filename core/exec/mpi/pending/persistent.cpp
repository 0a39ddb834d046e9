#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>

#include "circoll/error.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"
#include "exec/mpi/pending/neighbor_requests.hpp"
#include "exec/mpi/pending/pending_call.hpp"
#include "exec/mpi/serve/equal_blocks.hpp"
#include "exec/mpi/serve/known_calls.hpp"
#include "exec/mpi/serve/perform.hpp"

namespace circoll::mpi {
namespace {

/// A persistent request of ours, whatever it is of.
class PersistentRequest {
 public:
  PersistentRequest() = default;
  virtual ~PersistentRequest() = default;
  PersistentRequest(const PersistentRequest&) = delete;
  PersistentRequest& operator=(const PersistentRequest&) = delete;

  [[nodiscard]] virtual int start() = 0;
  /// The program has freed the request. True: to be deleted now; false: it deletes itself when it is over.
  [[nodiscard]] virtual bool give_up() = 0;
};

PersistentRequest* take(MPI_Request request);

/// `Base` is a PendingWork.
template <typename Base>
class Persistent final : public Base, public PersistentRequest {
 public:
  template <typename... Arguments>
  explicit Persistent(Arguments&&... arguments) : Base(std::forward<Arguments>(arguments)...) {
    this->set_persistent();
    this->comm_state().retain();
  }
  ~Persistent() override { this->comm_state().release(); }  // may be the end of it, when the tags are given back, too

  [[nodiscard]] int make_request() { return message_.init_receive(&handle_); }
  [[nodiscard]] MPI_Request request() const override { return handle_; }

  [[nodiscard]] int start() override {
    this->entered();
    // The receive would fail before the operation is over.
    if (const int failure = this->comm_state().find_failure(); failure != MPI_SUCCESS) {
      this->comm_state().call_errhandler(failure);
      return failure;
    }
    MPI_Request handle = handle_;
    if (const int rc = PMPI_Start(&handle); rc != MPI_SUCCESS) return rc;
    state_ = State::active;
    try {
      progress().add(*this);
    } catch (const std::bad_alloc&) {
      CompletionMessage::withdraw(&handle);
      state_ = State::inactive;
      this->comm_state().call_errhandler(MPI_ERR_NO_MEM);
      return MPI_ERR_NO_MEM;
    }
    return MPI_SUCCESS;
  }
  [[nodiscard]] bool give_up() override { return state_.exchange(State::given_up) != State::active; }

  void finished() noexcept override {
    this->notify_observer();
    const CompletionMessage message = message_;
    const int error = this->call_errhandler();
    // MPI frees the request in the call that waits for it, and may give its handle to another one.
    if (error != MPI_SUCCESS && library::frees_failed_requests() && take(handle_) != nullptr) state_ = State::given_up;
    if (state_.exchange(State::inactive) == State::given_up) delete this;
    message.send(error);  // from here on the program may start it again
  }

 private:
  enum class State { inactive, active, given_up };

  CompletionMessage message_{this->comm_state().completions()};
  MPI_Request handle_ = MPI_REQUEST_NULL;
  std::atomic<State> state_{State::inactive};
};

/// The persistent requests that exist. Part of the executor's global state (HACKING.md).
struct Registry {
  std::atomic<std::size_t> size{0};
  std::mutex mutex;
  std::unordered_map<MPI_Request, PersistentRequest*> all;
};

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

/// Removes a request. nullptr if it is not registered.
PersistentRequest* take(MPI_Request request) {
  Registry& known = registry();
  if (known.size == 0) return nullptr;
  const std::lock_guard lock(known.mutex);
  const auto taken = known.all.extract(request);
  known.size = known.all.size();
  return taken.empty() ? nullptr : taken.mapped();
}

PersistentRequest* find(MPI_Request request) {
  Registry& known = registry();
  if (known.size == 0) return nullptr;
  const std::lock_guard lock(known.mutex);
  const auto found = known.all.find(request);
  return found == known.all.end() ? nullptr : found->second;
}

/// Makes the request and registers it. Returns an MPI error code.
template <typename Base>
int enter(std::unique_ptr<Persistent<Base>> made, MPI_Request* request) {
  if (const int rc = made->make_request(); rc != MPI_SUCCESS) return rc;
  MPI_Request handle = made->request();
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  try {
    known.all.insert_or_assign(handle, made.get());
  } catch (...) {
    PMPI_Request_free(&handle);
    throw;
  }
  known.size = known.all.size();
  *request = handle;
  (void)made.release();  // free_persistent() deletes it
  return MPI_SUCCESS;
}

CallResult native(const Call& call, MPI_Info info, MPI_Request* request, std::string_view reason, Count bytes = 0) {
  return native_outcome(init_native(call, info, request), reason, bytes);
}

/// `asked`: the collective that the program has called.
CallResult init_on(CommState& state, const Call& call, const InternedChoice& choice, MPI_Info info,
                   MPI_Request* request, const Observer& observer, const CalledCollective& asked) {
  auto made = std::make_unique<Persistent<PendingCall>>(call, state, observer);
  made->set_collective(asked);
  Operation& operation = made->operation();
  if (const int rc = find_service(operation, state, choice); rc != MPI_SUCCESS) {
    return CallResult{.error = rc, .handled = true};
  }
  if (!operation.served()) return native(call, info, request, operation.reason(), operation.bytes());
  std::optional<Call> regular;
  if (const int rc = find_regular(call, choice, state, &regular); rc != MPI_SUCCESS)
    return CallResult{.error = rc, .handled = true};
  if (regular)
    return init_on(state, *regular, *intern(Collective::alltoall, *choice.policy), info, request, observer, asked);
  bool in_device = false;
  if (const int rc = find_device_memory(call, state, &in_device); rc != MPI_SUCCESS) {
    return CallResult{.error = rc, .handled = true};
  }
  if (in_device) return native(call, info, request, in_device_memory, operation.bytes());
  if (!operation.reserve_tags()) return native(call, info, request, too_many_requests, operation.bytes());
  if (const int rc = enter(std::move(made), request); rc != MPI_SUCCESS) return CallResult{.error = rc};
  return CallResult{.by = keep_served(operation.plan()), .bytes = operation.bytes()};
}

}  // namespace

CallResult init(const Call& call, const InternedChoice& choice, MPI_Info info, MPI_Request* request,
                const Observer& observer) {
  const FoundCommunicator found = find_communicator(call, choice, true);
  if (found.error != MPI_SUCCESS) return CallResult{.error = found.error, .handled = true};
  if (!found.native_reason.empty()) return native(call, info, request, found.native_reason);
  CommState::bury_released();
  if (self_communicator() == MPI_COMM_NULL)
    throw Error(ErrorCode::transport, "MPI could not make a private communicator");
  return with_memory(*found.state, [&] {
    const RewrittenCall rewritten(call, choice, *found.state);
    if (const NativeCall* known = rewritten.known().native) {
      return native(rewritten.call(), info, request, known->reason, known->bytes);
    }
    return init_on(*found.state, rewritten.call(), rewritten.choice(), info, request, observer, called(call));
  });
}

CallResult init(const NeighborCall& call, const InternedChoice& choice, const NeighborNative& native,
                MPI_Request* request, const Observer& observer) {
  return serve_among_neighbors(call, choice, native, [&](CommState& state, NeighborState& kept) -> CallResult {
    CommState::bury_released();
    if (self_communicator() == MPI_COMM_NULL)
      throw Error(ErrorCode::transport, "MPI could not make a private communicator");
    if (const int rc = make_ready(state); rc != MPI_SUCCESS) return {.error = rc, .handled = true};
    if (const std::string_view why = why_not_ready(state); !why.empty()) return native_outcome(native(why), why);
    std::unique_ptr<const NodeAwareWay> joined;
    if (const int rc = kept.find_joined(call, state, choice, &joined); rc != MPI_SUCCESS)
      return {.error = rc, .handled = true};
    const NeighborWay way = joined != nullptr ? joined->way() : kept.direct(contract_of(call.function));
    auto made = std::make_unique<Persistent<PendingNeighbor>>(call, state, way, kept.sides(), observer);
    NeighborOperation& operation = made->operation();
    if (const int rc = operation.reserve_tags(); rc != MPI_SUCCESS) return {.error = rc, .handled = true};
    if (!operation.has_tags()) return native_outcome(native(too_many_requests), too_many_requests);
    if (const int rc = operation.hold_types(); rc != MPI_SUCCESS) return {.error = rc, .handled = true};
    CallResult result = outcome_of(operation);
    if (const int rc = enter(std::move(made), request); rc != MPI_SUCCESS) return {.error = rc};
    return result;
  });
}

bool start_persistent(MPI_Request request, int* error) {
  PersistentRequest* const found = find(request);
  if (found == nullptr) return false;
  *error = found->start();
  return true;
}

bool free_persistent(MPI_Request* request, int* error) {
  PersistentRequest* const found = take(*request);
  if (found == nullptr) return false;
  *error = PMPI_Request_free(request);
  if (found->give_up()) delete found;
  return true;
}

bool cancel_persistent(MPI_Request request, int* error) {
  if (find(request) == nullptr) return false;
  *error = MPI_ERR_REQUEST;
  PMPI_Comm_call_errhandler(base_world(), *error);
  return true;
}

}  // namespace circoll::mpi
