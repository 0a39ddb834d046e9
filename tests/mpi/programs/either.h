/* Calls that are blocking, or nonblocking and waited for. */
#ifndef EITHER_H
#define EITHER_H

#include <mpi.h>

static int waited(int rc, MPI_Request* request) {
  return rc == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : rc;
}

/* MPI_NAME(arguments), or MPI_Iname(arguments, &request) if `nonblocking` is set. */
#define CALL(name, iname, ...) \
  (nonblocking ? waited(MPI_I##iname(__VA_ARGS__, &request), &request) : MPI_##name(__VA_ARGS__))

#endif
