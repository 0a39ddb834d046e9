// Nonblocking and persistent calls of the typed API.
#include <sched.h>

#include <memory>

#include "circoll/error.hpp"
#include "circoll/mpi.hpp"
#include "exec/mpi/pending/owned_call.hpp"
#include "exec/mpi/serve/bound_plan.hpp"
#include "exec/mpi/typed_arguments.hpp"

namespace circoll::mpi {
namespace {

/// Polls of a waiting rank before it lets others run.
constexpr int polls_before_yield = 100;

/// A call behind a Request.
class MpiWork final : public Request::Work {
 public:
  enum class Kind { nonblocking, persistent };

  MpiWork(const CollectiveCall& typed, MPI_Op op, MPI_Comm comm, const Choice& choice, Kind kind)
      : arguments_(typed, op, comm, TypedArguments::Arrays::copies), kind_(kind), active_(kind == Kind::nonblocking) {
    const InternedChoice& interned = *intern(typed.collective, choice);
    service_ =
        kind == Kind::persistent ? init_owned(arguments_.call(), interned) : begin_owned(arguments_.call(), interned);
  }

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
    } else if (const int rc = PMPI_Start(&service_.native); rc != MPI_SUCCESS) {
      throw MpiError(rc);
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
    if (error != MPI_SUCCESS) throw MpiError(error);
    return true;
  }

  void wait() override {
    for (int polls = 0; !test(); ++polls) {
      if (polls >= polls_before_yield) sched_yield();
    }
  }

  [[nodiscard]] bool active() const override { return active_; }
  [[nodiscard]] bool persistent() const override { return kind_ == Kind::persistent; }

 private:
  TypedArguments arguments_;  // before what refers to its arrays
  Kind kind_;
  bool active_;
  Service service_{};
};

}  // namespace

Request begin(const CollectiveCall& call, MPI_Op op, MPI_Comm comm, const Choice& choice) {
  return Request(std::make_unique<MpiWork>(call, op, comm, choice, MpiWork::Kind::nonblocking));
}

Request init(const CollectiveCall& call, MPI_Op op, MPI_Comm comm, const Choice& choice) {
  return Request(std::make_unique<MpiWork>(call, op, comm, choice, MpiWork::Kind::persistent));
}

}  // namespace circoll::mpi
