/* Calls all blocking collectives, in several forms, and prints a digest of every result. Knows nothing of
 * Circoll: its output must be the same with and without the drop-in. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"

static void subtract_order(void* in, void* inout, int* n, MPI_Datatype* type) {
  int i;
  (void)type;
  for (i = 0; i + 1 < 2 * *n; i += 2) { /* 2x x+... affine maps: not commutative */
    unsigned* l = (unsigned*)in + i;
    unsigned* r = (unsigned*)inout + i;
    unsigned a = l[0] * r[0], b = l[0] * r[1] + l[1];
    r[0] = a;
    r[1] = b;
  }
}

static void run(int n) {
  int i, root, total = 0;
  int* a = malloc(sizeof(int) * (size_t)(n * size + 1));
  int* b = malloc(sizeof(int) * (size_t)(n * size + 1));
  double* x = malloc(sizeof(double) * (size_t)(n + 1));
  double* y = malloc(sizeof(double) * (size_t)(n + 1));
  int* counts = malloc(sizeof(int) * (size_t)size);
  int* displs = malloc(sizeof(int) * (size_t)size);
  size_t one = sizeof(int) * (size_t)n, all = sizeof(int) * (size_t)(n * size);
  for (i = 0; i < n * size; ++i) a[i] = (rank + 1) * 1000 + i % 977;
  for (i = 0; i < n; ++i) x[i] = rank + i;
  for (i = 0; i < size; ++i) {
    counts[i] = i % 2 == 0 ? n : n / 2;
    displs[i] = total;
    total += counts[i];
  }
#define RESET memset(b, 0, all)
  RESET;
  MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  report("allreduce", b, one);
  MPI_Allreduce(x, y, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  report("allreduce max double", y, sizeof(double) * (size_t)n);
  memcpy(b, a, all);
  MPI_Allreduce(MPI_IN_PLACE, b, n, MPI_INT, MPI_BXOR, MPI_COMM_WORLD);
  report("allreduce in place", b, one);
  RESET;
  MPI_Reduce(a, b, n, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD);
  report("reduce", b, one);
  RESET;
  MPI_Reduce_scatter_block(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  report("reduce_scatter_block", b, one);
  RESET;
  MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  report("reduce_scatter", b, one);
  for (root = 0; root < size; ++root) { /* all for one rank */
    for (i = 0; i < size; ++i) counts[i] = i == root ? n : 0;
    RESET;
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    report("reduce_scatter to one", b, one);
  }
  for (i = 0; i < size; ++i) counts[i] = i % 2 == 0 ? n : n / 2;
  RESET;
  MPI_Allgather(a, n, MPI_INT, b, n, MPI_INT, MPI_COMM_WORLD);
  report("allgather", b, all);
  RESET;
  MPI_Allgatherv(a, counts[rank], MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_WORLD);
  report("allgatherv", b, all);
  RESET;
  MPI_Gather(a, n, MPI_INT, b, n, MPI_INT, size / 2, MPI_COMM_WORLD);
  report("gather", b, all);
  RESET;
  MPI_Gatherv(a, counts[rank], MPI_INT, b, counts, displs, MPI_INT, 0, MPI_COMM_WORLD);
  report("gatherv", b, all);
  RESET;
  MPI_Scatter(a, n, MPI_INT, b, n, MPI_INT, 0, MPI_COMM_WORLD);
  report("scatter", b, all);
  RESET;
  MPI_Scatterv(a, counts, displs, MPI_INT, b, counts[rank], MPI_INT, size - 1, MPI_COMM_WORLD);
  report("scatterv", b, all);
  RESET;
  MPI_Alltoall(a, n, MPI_INT, b, n, MPI_INT, MPI_COMM_WORLD);
  report("alltoall", b, all);
  memcpy(b, a, all);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, n, MPI_INT, MPI_COMM_WORLD);
  report("alltoall in place", b, all);
  RESET;
  /* Rank s sends n or n / 2 elements to rank d, as s + d is even or odd: as many as it gets. */
  for (i = 0; i < size; ++i) {
    counts[i] = (rank + i) % 2 == 0 ? n : n / 2;
    displs[i] = (size - 1 - i) * n;
  }
  MPI_Alltoallv(a, counts, displs, MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_WORLD);
  report("alltoallv", b, all);
  RESET;
  MPI_Scan(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  report("scan", b, one);
  RESET;
  MPI_Exscan(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) RESET; /* not defined there */
  report("exscan", b, one);
  memcpy(b, a, all);
  MPI_Bcast(b, n, MPI_INT, size / 2, MPI_COMM_WORLD);
  report("bcast", b, all);
  MPI_Barrier(MPI_COMM_WORLD);
  free(a);
  free(b);
  free(x);
  free(y);
  free(counts);
  free(displs);
}

static void special(void) {
  MPI_Op op;
  MPI_Datatype pair, column;
  MPI_Comm half;
  unsigned map[8], out[8];
  int matrix[30], i, sum = 0, one = 1, rc, class = 0;
  MPI_Op_create(subtract_order, 0, &op);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
  MPI_Type_commit(&pair);
  for (i = 0; i < 8; ++i) map[i] = (unsigned)(3 * rank + i + 2);
  MPI_Allreduce(map, out, 4, pair, op, MPI_COMM_WORLD);
  report("allreduce of a user operator", out, sizeof out);
  MPI_Scan(map, out, 4, pair, op, MPI_COMM_WORLD);
  report("scan of a user operator", out, sizeof out);
  MPI_Type_vector(5, 1, 6, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (i = 0; i < 30; ++i) matrix[i] = rank == 0 ? i : -1;
  MPI_Bcast(matrix + 2, 1, column, 0, MPI_COMM_WORLD);
  report("bcast of a matrix column", matrix, sizeof matrix);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
  report("allreduce on half of the ranks", &sum, sizeof sum);
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  rc = MPI_Bcast(&one, 1, MPI_INT, -5, half);
  MPI_Error_class(rc, &class);
  report("error class of a wrong root", class == MPI_ERR_ROOT ? "root" : "????", 4);
  MPI_Comm_free(&half);
  MPI_Type_free(&pair);
  MPI_Type_free(&column);
  MPI_Op_free(&op);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  run(1);
  run(17);
  run(10000);
  special();
  MPI_Finalize();
  return 0;
}
