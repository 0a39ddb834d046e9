/* The verdict of an MPI library on an erroneous call: the class of the error that is returned, and the error handlers
 * that were called for it. */
#ifndef VERDICTS_H
#define VERDICTS_H

#include <mpi.h>
#include <stdio.h>

#include "either.h"
#include "no_type.h"

static int rank, size;
static MPI_Comm comm;   /* the one under test */
static int nonblocking; /* true if calls are nonblocking, and are waited for */
static int calls_comm, calls_world, calls_self, calls_other, last_code;

/* An error handler for every communicator. */
static void handler(MPI_Comm* which, int* code, ...) {
  if (*which == comm) {
    ++calls_comm;
  } else if (*which == MPI_COMM_WORLD) {
    ++calls_world;
  } else if (*which == MPI_COMM_SELF) {
    ++calls_self;
  } else {
    ++calls_other;
  }
  last_code = *code;
}

/* Prints how a call ended at each rank, in the order of ranks. */
static void report(const char* what, int rc) {
  char line[200];
  int class = MPI_SUCCESS, length = 0, i;
  char name[MPI_MAX_ERROR_STRING] = "success";
  if (rc != MPI_SUCCESS) {
    MPI_Error_class(rc, &class);
    MPI_Error_string(class, name, &length);
  }
  snprintf(line, sizeof line, "%-55s rank %d: %.60s; handlers: comm %d, world %d, self %d, other %d%s", what, rank,
           name, calls_comm, calls_world, calls_self, calls_other,
           calls_comm + calls_world + calls_self + calls_other > 0 && last_code != rc ? "; another code" : "");
  calls_comm = calls_world = calls_self = calls_other = 0;
  if (rank != 0) {
    MPI_Send(line, sizeof line, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    return;
  }
  puts(line);
  for (i = 1; i < size; ++i) {
    MPI_Recv(line, sizeof line, MPI_CHAR, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    puts(line);
  }
}

/* A user-defined operator. */
static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  int i;
  (void)type;
  for (i = 0; i < *n; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

#endif
