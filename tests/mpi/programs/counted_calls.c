/* counted_calls LOG: calls collectives, and writes a line for each into LOG.<rank>: ranks of the communicator, mode,
 * collective, and the packed bytes that docs/user/reports.md says count. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "persistent.h"

static FILE* file;

static void log_call(MPI_Comm comm, const char* mode, const char* collective, long bytes) {
  int size;
  MPI_Comm_size(comm, &size);
  fprintf(file, "%d %s %s %ld\n", size, mode, collective, bytes);
}

static void calls_on(MPI_Comm comm, int n) {
  int size, rank, i;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  int* counts = calloc((size_t)size, sizeof(int));
  int* displs = calloc((size_t)size, sizeof(int));
  double* a = calloc((size_t)(2 * n * size + 1), sizeof(double));
  double* b = calloc((size_t)(2 * n * size + 1), sizeof(double));
  int total = 0;
  for (i = 0; i < size; ++i) {
    counts[i] = i % 2 == 0 ? n : 2 * n;
    displs[i] = total;
    total += counts[i];
  }
  MPI_Allreduce(a, b, n, MPI_DOUBLE, MPI_SUM, comm);
  log_call(comm, "blocking", "allreduce", 8L * n);
  MPI_Allreduce(MPI_IN_PLACE, b, n, MPI_DOUBLE, MPI_MAX, comm);
  log_call(comm, "blocking", "allreduce", 8L * n);
  MPI_Bcast(a, n, MPI_DOUBLE, size - 1, comm);
  log_call(comm, "blocking", "bcast", 8L * n);
  MPI_Allgather(a, n, MPI_DOUBLE, b, n, MPI_DOUBLE, comm);
  log_call(comm, "blocking", "allgather", 8L * n);
  MPI_Gatherv(a, counts[rank], MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, 0, comm);
  log_call(comm, "blocking", "gatherv", 8L * counts[rank]);
  MPI_Alltoall(a, n, MPI_DOUBLE, b, n, MPI_DOUBLE, comm);
  log_call(comm, "blocking", "alltoall", 8L * n * size);
  MPI_Barrier(comm);
  log_call(comm, "blocking", "barrier", 0);
  /* Two calls are under way at once. Then a persistent one is started twice. */
  MPI_Request requests[2];
  MPI_Iallreduce(a, b, n, MPI_DOUBLE, MPI_SUM, comm, &requests[0]);
  MPI_Ibcast(b + n * size, n, MPI_DOUBLE, 0, comm, &requests[1]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  log_call(comm, "nonblocking", "allreduce", 8L * n);
  log_call(comm, "nonblocking", "bcast", 8L * n);
  PERSISTENT(Scan)(a, b, n, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
  for (i = 0; i < 2; ++i) {
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    log_call(comm, "persistent", "scan", 8L * n);
  }
  MPI_Request_free(&requests[0]);
  free(b);
  free(a);
  free(displs);
  free(counts);
}

int main(int argc, char** argv) {
  const int sizes[] = {0, 1, 2, 3, 127, 128, 10000};
  char name[4096];
  int rank, i, k;
  MPI_Comm half;
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  snprintf(name, sizeof name, "%s.%d", argv[1], rank);
  file = fopen(name, "w");
  if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (i = 0; i < (int)(sizeof sizes / sizeof sizes[0]); ++i) {
    for (k = 0; k < 3; ++k) calls_on(MPI_COMM_WORLD, sizes[i]);
    calls_on(half, sizes[i]);
  }
  MPI_Comm_free(&half);
  MPI_Finalize();
  return fclose(file) == 0 ? 0 : 1;
}
