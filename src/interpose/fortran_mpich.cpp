// Fortran under MPICH: its Fortran layer calls the C symbols in front, but for `use mpi_f08` procedures without a choice
// buffer, which call PMPI_ functions. Of what the drop-in serves that is the barrier, and the start.
#include <mpi.h>

#define CIRCOLL_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

void give(MPI_Fint* ierror, int code) {
  if (ierror != nullptr) *ierror = code;  // an optional argument
}

}  // namespace

CIRCOLL_EXPORT void mpi_barrier_f08_(const MPI_Fint* comm, MPI_Fint* ierror) {
  give(ierror, MPI_Barrier(PMPI_Comm_f2c(*comm)));
}

CIRCOLL_EXPORT void mpi_init_f08_(MPI_Fint* ierror) { give(ierror, MPI_Init(nullptr, nullptr)); }

CIRCOLL_EXPORT void mpi_init_thread_f08_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) {
  give(ierror, MPI_Init_thread(nullptr, nullptr, *required, provided));
}
