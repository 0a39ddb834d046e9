// Questions that MPI may refuse, and that Circoll asks for itself.
#pragma once

#include <mpi.h>

#include <array>
#include <mutex>

namespace circoll::mpi {

/// Keeps errors that belong to no communicator from the program's error handlers while it lives. MPI gives them to the
/// handler of MPI_COMM_WORLD, from MPI 4 on to that of MPI_COMM_SELF; some do for years after. It costs several calls,
/// and during them errors of the program's other threads are returned, too: for what is asked once, at a begin or an
/// end. What comes again must be asked with a communicator of ours.
class QuietErrors {
 public:
  QuietErrors() {
    const std::lock_guard lock(shared().mutex);
    if (shared().users++ > 0) return;
    for (Silenced& s : shared().silenced) {
      // Reference counted: both the handler that we got and the one that is set.
      if (PMPI_Comm_get_errhandler(s.comm, &s.program) != MPI_SUCCESS) s.program = MPI_ERRHANDLER_NULL;
      if (s.program != MPI_ERRHANDLER_NULL) PMPI_Comm_set_errhandler(s.comm, MPI_ERRORS_RETURN);
    }
  }
  ~QuietErrors() {
    const std::lock_guard lock(shared().mutex);
    if (--shared().users > 0) return;
    for (Silenced& s : shared().silenced) {
      if (s.program == MPI_ERRHANDLER_NULL) continue;
      PMPI_Comm_set_errhandler(s.comm, s.program);
      PMPI_Errhandler_free(&s.program);
    }
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  struct Silenced {
    MPI_Comm comm;
    MPI_Errhandler program = MPI_ERRHANDLER_NULL;  ///< to be set again
  };
  /// Of all that live: the first silences, the last restores.
  struct Shared {
    std::mutex mutex;
    int users = 0;
    std::array<Silenced, 2> silenced{Silenced{MPI_COMM_WORLD}, Silenced{MPI_COMM_SELF}};
  };
  static Shared& shared() {
    static auto* const instance = new Shared;  // for as long as anyone may call
    return *instance;
  }
};

}  // namespace circoll::mpi
