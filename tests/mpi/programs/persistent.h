/* Persistent collectives by the names that the MPI library has for them: PERSISTENT(Bcast) is MPI_Bcast_init, or
 * MPIX_Bcast_init under Open MPI 4, where they are an extension. Open MPI 5 has the first, though it says that it is
 * MPI 3.1. */
#ifndef PERSISTENT_H
#define PERSISTENT_H

#include <mpi.h>

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define PERSISTENT_IS_MPIX
#define PERSISTENT(name) MPIX_##name##_init
#else
#define PERSISTENT(name) MPI_##name##_init
#endif

#endif
