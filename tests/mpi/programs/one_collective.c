/* one_collective COLLECTIVE BYTES: calls it once on MPI_COMM_WORLD, with a vector of so many bytes, of doubles. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int p;
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const char* what = argv[1];
  const int n = atoi(argv[2]) / 8;
  double* a = calloc((size_t)n + 1, sizeof *a);
  double* b = calloc((size_t)n + 1, sizeof *b);
  if (a == NULL || b == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  if (strcmp(what, "allreduce") == 0) {
    MPI_Allreduce(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(what, "reduce") == 0) {
    MPI_Reduce(a, b, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  } else if (strcmp(what, "bcast") == 0) {
    MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else if (strcmp(what, "allgather") == 0) {
    MPI_Allgather(a, n / p, MPI_DOUBLE, b, n / p, MPI_DOUBLE, MPI_COMM_WORLD);
  } else if (strcmp(what, "alltoall") == 0) {
    MPI_Alltoall(a, n / p, MPI_DOUBLE, b, n / p, MPI_DOUBLE, MPI_COMM_WORLD);
  } else if (strcmp(what, "scan") == 0) {
    MPI_Scan(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(what, "gather") == 0) {
    MPI_Gather(a, n / p, MPI_DOUBLE, b, n / p, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else if (strcmp(what, "reduce_scatter_block") == 0) {
    MPI_Reduce_scatter_block(a, b, n / p, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  free(a);
  free(b);
  MPI_Finalize();
  return 0;
}
