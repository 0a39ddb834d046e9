// MPI requests for operations of ours: receives from ourselves, which a message of no bytes completes. So they are
// waited for, tested and persistent as MPI says, together with others, in every call of every MPI. (Generalized
// requests would be meant for this, but MPICH 4.0's MPI_Waitall aborts if it meets one next to MPI_REQUEST_NULL.)
#pragma once

#include <mpi.h>

namespace circoll::mpi {

class CompletionMessage {
 public:
  /// On a private communicator of this process alone.
  explicit CompletionMessage(MPI_Comm comm);

  /// The receive, under way or persistent. Returns an MPI error code.
  [[nodiscard]] int receive(MPI_Request* request) const;
  [[nodiscard]] int init_receive(MPI_Request* request) const;
  /// Takes it back: nobody will send.
  static void withdraw(MPI_Request* request) noexcept;
  /// Completes it. A status of a receive cannot carry an error code; if there was one, the message is too long, so that
  /// the receive fails at least. After a failure that MPI tells of (library/failures.hpp) the communicator is revoked,
  /// if it is not the one of all. Its receives fail as collectives do then, so that all operations on it must be over.
  void send(int error) const noexcept;

 private:
  MPI_Comm comm_;
  int tag_;
};

}  // namespace circoll::mpi
