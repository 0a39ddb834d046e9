/* A tool of MPI's profiling interface: counts some calls and writes the counts into a file at the end of rank 0. As
 * tools do, it hands on to the PMPI_ function, and the file is TOOL_OUTPUT. With CHAINED it hands on to the next
 * library that defines the function, and the file is CHAINED_OUTPUT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int allreduces, pcontrols, begins, ends, communicators, rank = -1;

#ifdef CHAINED
#define OUTPUT "CHAINED_OUTPUT"
#define NEXT(name, parameters, arguments)            \
  do {                                               \
    int(*next) parameters = NULL;                    \
    *(void**)&next = dlsym(RTLD_NEXT, "MPI_" #name); \
    return next arguments;                           \
  } while (0)
#else
#define OUTPUT "TOOL_OUTPUT"
#define NEXT(name, parameters, arguments) return PMPI_##name arguments
#endif

int MPI_Init(int* argc, char*** argv) {
  ++begins;
  NEXT(Init, (int*, char***), (argc, argv));
}

int MPI_Finalize(void) {
  ++ends;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  NEXT(Finalize, (void), ());
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  ++communicators;
  NEXT(Comm_dup, (MPI_Comm, MPI_Comm*), (comm, newcomm));
}

int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  ++allreduces;
  NEXT(Allreduce, (const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm),
       (sendbuf, recvbuf, count, datatype, op, comm));
}

int MPI_Pcontrol(const int level, ...) {
  ++pcontrols;
  NEXT(Pcontrol, (const int, ...), (level));
}

__attribute__((destructor)) static void report(void) {
  FILE* file = rank == 0 ? fopen(getenv(OUTPUT), "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%d MPI_Allreduce, %d MPI_Pcontrol, %d MPI_Init, %d MPI_Finalize, %d MPI_Comm_dup\n", allreduces,
          pcontrols, begins, ends, communicators);
  fclose(file);
}
