// Work of the API behind a Request. Its owner keeps it until it is over, and no MPI request stands for it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "exec/mpi/call/neighbor_call.hpp"
#include "exec/mpi/pending/callers_operator.hpp"
#include "exec/mpi/pending/owned_call.hpp"
#include "exec/mpi/pending/pending_call.hpp"
#include "exec/mpi/pending/progress.hpp"

namespace circoll::mpi {

/// A served call. Its owner gets its error, for which no handler is called.
class OwnedWork {
 public:
  OwnedWork() = default;
  virtual ~OwnedWork() = default;
  OwnedWork(const OwnedWork&) = delete;
  OwnedWork& operator=(const OwnedWork&) = delete;

  /// Begins it, again if it is persistent and over.
  virtual void start() = 0;
  [[nodiscard]] bool over() const { return over_.load(std::memory_order_acquire); }
  [[nodiscard]] virtual int error() = 0;

 protected:
  void set_over(bool over) noexcept { over_.store(over, std::memory_order_release); }

 private:
  std::atomic<bool> over_{false};
};

/// `Base` is a PendingWork.
template <typename Base>
class Owned final : public Base, public OwnedWork {
 public:
  template <typename... Arguments>
  explicit Owned(Arguments&&... arguments) : Base(std::forward<Arguments>(arguments)..., Observer()) {
    this->comm_state().retain();
  }
  ~Owned() override { this->comm_state().release(); }

  void start() override {
    set_over(false);
    progress().add(*this);
  }
  [[nodiscard]] int error() override { return this->operation().error(); }

  [[nodiscard]] MPI_Request request() const override { return MPI_REQUEST_NULL; }
  void finished() noexcept override { set_over(true); }
};

/// The service of a nonblocking or persistent call: a call of ours, or the library's request.
struct Service {
  std::unique_ptr<OwnedWork> owned{};
  MPI_Request native = MPI_REQUEST_NULL;
  // The arrays of a native call, which the library may read until the request is over.
  std::vector<Count> wide{};
  std::vector<int> narrow{};
  std::vector<MPI_Datatype> types{};
  NeighborArrays of_neighbors{};
};
[[nodiscard]] Request request_of(Service service, RequestKind kind, CallersOperator op = CallersOperator(nullptr));

/// Waits until no nonblocking or persistent call is under way on a communicator.
void finish_owned_calls(MPI_Comm comm);

inline void throw_error(int error) {
  if (error != MPI_SUCCESS) throw MpiError(error);
}

}  // namespace circoll::mpi
