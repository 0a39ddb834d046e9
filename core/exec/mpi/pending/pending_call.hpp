// Common parts of nonblocking and persistent calls, and of the MPI requests that stand for them.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>
#include <vector>

#include "exec/mpi/call/kept_arguments.hpp"
#include "exec/mpi/pending/nonblocking.hpp"
#include "exec/mpi/pending/progress.hpp"
#include "exec/mpi/serve/neighbor_operation.hpp"
#include "exec/mpi/serve/operation.hpp"

namespace circoll::mpi {

/// A call behind a request: its communicator, and who hears of its end.
class PendingWork : public Pending {
 public:
  PendingWork(CommState& state, const Observer& observer) : state_(state), observer_(observer) { entered(); }

  void set_observer(const Observer& observer) {
    observer_ = observer;
    entered();
  }
  [[nodiscard]] CommState& comm_state() override { return state_; }
  void begun() noexcept override {
    if (observed()) ended_.inside_s = PMPI_Wtime() - ended_.begin_s;
  }

 protected:
  /// The call, or MPI_Start, has been entered now.
  void entered() {
    if (observed()) ended_.begin_s = PMPI_Wtime();
  }
  void set_persistent() { ended_.persistent = true; }
  /// Says what the call was and how it ended, but for times.
  virtual void describe(Ended& ended) noexcept = 0;
  void notify_observer() noexcept;
  /// Calls the communicator's error handler if there was an error. Returns the error.
  int call_errhandler() noexcept;

 private:
  [[nodiscard]] bool observed() const { return observer_.on_ended != nullptr; }

  CommState& state_;
  Observer observer_;
  Ended ended_{};
};

/// A collective among all ranks, with everything that must live as long as it is under way.
class PendingCall : public PendingWork {
 public:
  PendingCall(const Call& call, CommState& state, const Observer& observer);

  /// Takes the arguments of another call, if the same applies to it (Operation::again).
  [[nodiscard]] bool again(const Call& call, const CallShape& shape, const InternedChoice& choice) {
    return operation_.again(call, shape, choice);
  }
  /// The collective that the program has called, for the observer.
  void set_collective(const CalledCollective& asked) { asked_ = asked; }
  [[nodiscard]] Operation& operation() override { return operation_; }

 protected:
  void describe(Ended& ended) noexcept override;

 private:
  KeptArguments held_;
  std::vector<Count> counts_;
  Operation operation_;
  CalledCollective asked_{};
};

/// A collective among neighbours.
class PendingNeighbor : public PendingWork {
 public:
  PendingNeighbor(const NeighborCall& call, CommState& state, const NeighborWay& way, NeighborSides sides,
                  const Observer& observer)
      : PendingWork(state, observer), operation_(call, state, way, std::move(sides)) {}

  [[nodiscard]] NeighborOperation& operation() override { return operation_; }

 protected:
  void describe(Ended& ended) noexcept override;

 private:
  NeighborOperation operation_;
};

/// An MPI request for an operation of ours is a receive from this process itself. A message of no bytes completes it.
/// So a program can wait for it, test it and start it as MPI says, together with other requests, in every call of every
/// MPI. (Generalized requests would be meant for this, but MPICH 4.0's MPI_Waitall aborts if it meets one next to
/// MPI_REQUEST_NULL.)
class CompletionMessage {
 public:
  /// On a private communicator of this process alone.
  explicit CompletionMessage(MPI_Comm comm);

  /// The receive, under way or persistent. Returns an MPI error code.
  [[nodiscard]] int receive(MPI_Request* request) const;
  [[nodiscard]] int init_receive(MPI_Request* request) const;
  /// Takes it back: nobody will send.
  static void withdraw(MPI_Request* request) noexcept;
  /// Completes the request. A status of a receive cannot carry an error code. If there was an error, the message is too
  /// long, so that the receive fails at least. After a failure that MPI tells of (library/failures.hpp)
  /// send() revokes the communicator, unless it is self_communicator(). Then its receives fail as collectives do, so
  /// that all operations on it must be over.
  void send(int error) const noexcept;

 private:
  MPI_Comm comm_;
  int tag_;
};

/// A call that has begun, and its request. `Base` is a PendingWork.
template <typename Base>
class Nonblocking : public Base {
 public:
  using Base::Base;

  [[nodiscard]] int make_request(MPI_Request* request) {
    const int rc = message_.receive(request);
    request_ = *request;
    return rc;
  }
  [[nodiscard]] MPI_Request request() const override { return request_; }

  void finished() noexcept override {
    this->notify_observer();
    const CompletionMessage message = message_;
    const int error = this->call_errhandler();
    retire(error);
    message.send(error);
  }

  /// Hands a call with a request to Progress. It deletes itself when it is over.
  static void add(std::unique_ptr<Nonblocking> pending, MPI_Request* request) {
    Nonblocking* const added = pending.release();
    try {
      progress().add(*added);
    } catch (...) {
      pending.reset(added);
      CompletionMessage::withdraw(request);
      throw;
    }
  }

 protected:
  /// Deletes this object, or keeps it for another call.
  virtual void retire(int /*error*/) noexcept { delete this; }

 private:
  CompletionMessage message_{this->comm_state().completions()};
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace circoll::mpi
