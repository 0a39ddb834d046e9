#include "exec/mpi/pending/callers_operator.hpp"

#include <array>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/mpi.hpp"
#include "exec/mpi/call/datatype.hpp"
#include "exec/mpi/comm/globals.hpp"

namespace circoll::mpi {
namespace {

constexpr std::size_t places = 256;

/// Part of the executor's global state (HACKING.md).
struct CallersObjects {
  std::mutex mutex;
  std::array<OperatorPlace, places> operators;
  std::vector<OperatorPlace*> free;  // the last one is taken next, so that a repeated call finds its operator again
  std::unordered_map<Count, MPI_Datatype> records;
};

CallersObjects& objects();

/// The function of one place.
template <std::size_t place>
// NOLINTNEXTLINE(readability-non-const-parameter): an MPI_User_function
void combine(void* left, void* inout, int* elements, MPI_Datatype* /*type*/) {
  objects().operators[place].combine(left, inout, *elements);
}

template <std::size_t... place>
void set_functions(CallersObjects& made, std::index_sequence<place...> /*all*/) {
  ((made.operators[place].function = combine<place>), ...);
}

void free_objects() noexcept {
  CallersObjects& made = objects();
  const std::lock_guard lock(made.mutex);
  for (OperatorPlace& place : made.operators) place.free_handles();
  for (auto& [bytes, type] : made.records) PMPI_Type_free(&type);
  made.records.clear();
}

/// Never destroyed: threads of the program may still run at exit.
CallersObjects& objects() {
  static auto* const instance = [] {
    auto* const made = new CallersObjects;
    set_functions(*made, std::make_index_sequence<places>());
    made->free.reserve(places);
    for (std::size_t i = places; i-- > 0;) made->free.push_back(&made->operators[i]);
    at_finalize(free_objects);
    return made;
  }();
  return *instance;
}

}  // namespace

MPI_Op OperatorPlace::handle_of(const UserOperator& user) {
  user_ = &user;
  failure = nullptr;
  MPI_Op& handle = user.commutative ? commutative_ : ordered_;
  if (handle == MPI_OP_NULL && PMPI_Op_create(function, user.commutative ? 1 : 0, &handle) != MPI_SUCCESS) {
    handle = MPI_OP_NULL;
  }
  return handle;
}

void OperatorPlace::combine(const void* left, void* inout, Count elements) noexcept {
  if (elements == 0) return;  // a question about the operator
  try {
    user_->function(left, inout, elements);
  } catch (...) {
    if (failure == nullptr) failure = std::current_exception();
  }
}

void OperatorPlace::free_handles() noexcept {
  for (MPI_Op* const handle : {&ordered_, &commutative_}) {
    if (*handle != MPI_OP_NULL) PMPI_Op_free(handle);
  }
}

CallersOperator::CallersOperator(const UserOperator* user) {
  if (user == nullptr) return;
  require(user->function != nullptr, "the operator has no function");
  CallersObjects& all = objects();
  {
    const std::lock_guard lock(all.mutex);
    if (all.free.empty()) {
      throw Error(ErrorCode::unsupported,
                  "256 calls with a caller's operator are under way or persistent: end one first");
    }
    place_.reset(all.free.back());
    all.free.pop_back();
  }
  handle_ = place_->handle_of(*user);
  if (handle_ == MPI_OP_NULL) throw Error(ErrorCode::transport, "MPI could not make an operator for a callable");
}

void CallersOperator::rethrow() {
  if (place_ == nullptr || place_->failure == nullptr) return;
  std::rethrow_exception(std::exchange(place_->failure, nullptr));
}

void CallersOperator::GiveBack::operator()(OperatorPlace* place) const noexcept {
  CallersObjects& all = objects();
  const std::lock_guard lock(all.mutex);
  place->failure = nullptr;
  all.free.push_back(place);  // there is room for all
}

MPI_Datatype record_type(Count bytes) {
  CallersObjects& all = objects();
  const std::lock_guard lock(all.mutex);
  const auto known = all.records.find(bytes);
  if (known != all.records.end()) return known->second;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (const int rc = make_contiguous(bytes, MPI_BYTE, 1, &made); rc != MPI_SUCCESS) throw MpiError(rc);
  all.records.emplace(bytes, made);
  return made;
}

}  // namespace circoll::mpi
