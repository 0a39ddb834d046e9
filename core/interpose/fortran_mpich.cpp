// Fortran under MPICH calls the C symbols in front, except `use mpi_f08` procedures without a choice buffer. These call
// PMPI_ functions. The drop-in stands in front of some of those: barriers, requests, begin and end.
#include <mpi.h>

#include "interpose/fortran.hpp"
#include "interpose/serve.hpp"

namespace {
using circoll::interpose::fortran::free_op;
using circoll::interpose::fortran::give;
using circoll::interpose::fortran::start_all;
using circoll::interpose::fortran::with;
}  // namespace

extern "C" {

CIRCOLL_EXPORT void mpi_init_f08_(MPI_Fint* ierror) { give(ierror, MPI_Init(nullptr, nullptr)); }

CIRCOLL_EXPORT void mpi_init_thread_f08_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) {
  give(ierror, MPI_Init_thread(nullptr, nullptr, *required, provided));
}

CIRCOLL_EXPORT void mpi_finalize_f08_(MPI_Fint* ierror) { give(ierror, MPI_Finalize()); }

CIRCOLL_EXPORT void mpi_barrier_f08_(const MPI_Fint* comm, MPI_Fint* ierror) {
  give(ierror, MPI_Barrier(PMPI_Comm_f2c(*comm)));
}

CIRCOLL_EXPORT void mpi_ibarrier_f08_(const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror) {
  give(ierror, request, [&](MPI_Request* made) { return MPI_Ibarrier(PMPI_Comm_f2c(*comm), made); });
}

CIRCOLL_EXPORT void mpi_barrier_init_f08_(const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request,
                                          MPI_Fint* ierror) {
  give(ierror, request,
       [&](MPI_Request* made) { return MPI_Barrier_init(PMPI_Comm_f2c(*comm), PMPI_Info_f2c(*info), made); });
}

CIRCOLL_EXPORT void mpi_start_f08_(MPI_Fint* request, MPI_Fint* ierror) { give(ierror, with(request, MPI_Start)); }

CIRCOLL_EXPORT void mpi_startall_f08_(const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* ierror) {
  give(ierror, start_all(*count, requests));
}

CIRCOLL_EXPORT void mpi_request_free_f08_(MPI_Fint* request, MPI_Fint* ierror) {
  give(ierror, with(request, MPI_Request_free));
}

CIRCOLL_EXPORT void mpi_cancel_f08_(MPI_Fint* request, MPI_Fint* ierror) { give(ierror, with(request, MPI_Cancel)); }

CIRCOLL_EXPORT void mpi_op_free_f08_(MPI_Fint* op, MPI_Fint* ierror) { give(ierror, free_op(op)); }

}  // extern "C"
