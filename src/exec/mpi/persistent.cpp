#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "circoll/error.hpp"
#include "exec/mpi/globals.hpp"
#include "exec/mpi/pending_call.hpp"

namespace circoll::mpi {
namespace {

/// Its MPI request is a persistent receive from ourselves, which a message of no bytes completes: so it is inactive and
/// active, waited for and tested as MPI says, whatever else is waited for in the same call.
class Persistent final : public PendingCall {
 public:
  Persistent(const Call& call, CommState& state, const Observer& observer, int tag)
      : PendingCall(call, state, observer), tag_(tag) {
    set_persistent();
    state.retain();
  }
  ~Persistent() override { comm_state().release(); }

  [[nodiscard]] int make_request() {
    return PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag_, self_communicator(), &handle_);
  }
  [[nodiscard]] MPI_Request handle() const { return handle_; }

  [[nodiscard]] int start() {
    entered();
    MPI_Request handle = handle_;
    if (const int rc = PMPI_Start(&handle); rc != MPI_SUCCESS) return rc;
    state_ = State::active;
    operation().take_numbers();
    progress().add(*this);
    return MPI_SUCCESS;
  }

  /// The program has freed the request. True: to be deleted now; false: it deletes itself when it is over.
  [[nodiscard]] bool give_up() { return state_.exchange(State::given_up) != State::active; }

  void finished() noexcept override {
    tell();
    // The status of a receive can not carry our error code; a message that is too long makes it fail at least.
    const char too_long = 0;
    const int bytes = operation().error() == MPI_SUCCESS ? 0 : 1;
    const int tag = tag_;
    const bool given_up = state_.exchange(State::inactive) == State::given_up;
    // From here on the program may start it again.
    MPI_Request sent = MPI_REQUEST_NULL;
    PMPI_Isend(&too_long, bytes, MPI_BYTE, 0, tag, self_communicator(), &sent);
    if (sent != MPI_REQUEST_NULL) PMPI_Request_free(&sent);
    if (given_up) delete this;
  }

 private:
  enum class State { inactive, active, given_up };

  int tag_;
  MPI_Request handle_ = MPI_REQUEST_NULL;
  std::atomic<State> state_{State::inactive};
};

/// The persistent requests that exist. Part of the executor's global state (globals.hpp).
struct Registry {
  std::atomic<std::size_t> size{0};
  std::mutex mutex;
  std::unordered_map<MPI_Request, Persistent*> all;
  unsigned made = 0;
};

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

Persistent* find(MPI_Request request) {
  Registry& known = registry();
  if (known.size == 0) return nullptr;
  const std::lock_guard lock(known.mutex);
  const auto found = known.all.find(request);
  return found == known.all.end() ? nullptr : found->second;
}

int next_tag() {
  constexpr unsigned first = 1U << 14;  // below are those of packing (datatype.cpp)
  constexpr unsigned tags = 1U << 14;   // messages of equal tags arrive in order, and 32767 is what MPI promises
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  return static_cast<int>(first + known.made++ % tags);
}

Outcome native(const Call& call, MPI_Info info, MPI_Request* request, std::string_view reason, Count bytes = 0) {
  Outcome outcome{.reason = reason, .bytes = bytes, .handled = true};
  outcome.error = init_native(call, info, request);
  return outcome;
}

}  // namespace

Outcome init(const Call& call, const Interned& choice, MPI_Info info, MPI_Request* request, const Observer& observer) {
  const Communicator found = find_communicator(call, choice);
  if (found.error != MPI_SUCCESS) return Outcome{.error = found.error, .handled = true};
  if (!found.native_reason.empty()) return native(call, info, request, found.native_reason);
  CommState::bury_released();
  if (self_communicator() == MPI_COMM_NULL) throw Error(ErrorCode::transport, "no private communicator to be had");
  auto made = std::make_unique<Persistent>(call, *found.state, observer, next_tag());
  Operation& operation = made->operation();
  if (!operation.prepare(choice)) return native(call, info, request, operation.reason(), operation.bytes());
  if (const int rc = made->make_request(); rc != MPI_SUCCESS) return Outcome{.error = rc};
  *request = made->handle();
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  known.all.insert_or_assign(made->handle(), made.get());
  known.size = known.all.size();
  made.release();
  return Outcome{.plan = operation.plan(), .bytes = operation.bytes()};
}

bool start_persistent(MPI_Request request, int* error) {
  Persistent* const found = find(request);
  if (found == nullptr) return false;
  *error = found->start();
  return true;
}

bool free_persistent(MPI_Request* request, int* error) {
  Persistent* const found = find(*request);
  if (found == nullptr) return false;
  {
    Registry& known = registry();
    const std::lock_guard lock(known.mutex);
    known.all.erase(*request);
    known.size = known.all.size();
  }
  *error = PMPI_Request_free(request);
  if (found->give_up()) delete found;
  return true;
}

bool cancel_persistent(MPI_Request request, int* error) {
  if (find(request) == nullptr) return false;
  *error = MPI_ERR_REQUEST;
  PMPI_Comm_call_errhandler(MPI_COMM_WORLD, *error);
  return true;
}

}  // namespace circoll::mpi
