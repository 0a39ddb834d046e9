// Common parts of the Fortran entry points of both MPIs, which are error codes and handles as Fortran has them.
#pragma once

#include <mpi.h>

namespace circoll::interpose::fortran {

/// `ierror` is an optional argument with mpi_f08.
inline void give(MPI_Fint* ierror, int code) {
  if (ierror != nullptr) *ierror = code;
}

/// A call that makes a request.
template <typename Make>
void give(MPI_Fint* ierror, MPI_Fint* request, Make&& make) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int code = make(&made);
  if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(made);
  give(ierror, code);
}

/// A function that may change the handle of a request.
inline int with(MPI_Fint* request, int (*function)(MPI_Request*)) {
  MPI_Request c = PMPI_Request_f2c(*request);
  const int code = function(&c);
  if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(c);
  return code;
}

inline int start_all(int count, MPI_Fint* requests) {
  for (int i = 0; i < count; ++i) {
    if (const int code = with(&requests[i], MPI_Start); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

inline int free_op(MPI_Fint* handle) {
  MPI_Op c = PMPI_Op_f2c(*handle);
  const int code = MPI_Op_free(&c);
  if (code == MPI_SUCCESS) *handle = PMPI_Op_c2f(c);
  return code;
}

}  // namespace circoll::interpose::fortran
