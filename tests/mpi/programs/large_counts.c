/* Calls the collectives of MPI 4 with 64-bit counts and prints a digest of every result. Knows nothing of Circoll. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"

int main(int argc, char** argv) {
  enum { n = 60 };
  int i, all, *a, *b;
  MPI_Count *counts, *same, total = 0;
  MPI_Aint *displs, *places;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  all = n * size;
  a = malloc(sizeof(int) * (size_t)all);
  b = malloc(sizeof(int) * (size_t)all);
  counts = malloc(sizeof(MPI_Count) * (size_t)size);
  same = malloc(sizeof(MPI_Count) * (size_t)size);
  displs = malloc(sizeof(MPI_Aint) * (size_t)size);
  places = malloc(sizeof(MPI_Aint) * (size_t)size);
  for (i = 0; i < all; ++i) a[i] = (rank + 1) * 1000 + i % 977;
  for (i = 0; i < size; ++i) {
    counts[i] = i % 2 == 0 ? n : n / 2;
    displs[i] = (MPI_Aint)total;
    total += counts[i];
    same[i] = n / 2;
    places[i] = (MPI_Aint)(size - 1 - i) * n;
  }
#define CALL(name, call)                   \
  memset(b, 0, sizeof(int) * (size_t)all); \
  call;                                    \
  report(name, b, sizeof(int) * (size_t)all)
  CALL("allreduce", MPI_Allreduce_c(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CALL("reduce", MPI_Reduce_c(a, b, n, MPI_INT, MPI_MAX, size - 1, MPI_COMM_WORLD));
  CALL("reduce_scatter_block", MPI_Reduce_scatter_block_c(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CALL("reduce_scatter", MPI_Reduce_scatter_c(a, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CALL("scan", MPI_Scan_c(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CALL("exscan", MPI_Exscan_c(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD); if (rank == 0) b[0] = 0);
  CALL("allgather", MPI_Allgather_c(a, n, MPI_INT, b, n, MPI_INT, MPI_COMM_WORLD));
  CALL("allgatherv", MPI_Allgatherv_c(a, counts[rank], MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_WORLD));
  CALL("gather", MPI_Gather_c(a, n, MPI_INT, b, n, MPI_INT, 0, MPI_COMM_WORLD));
  CALL("gatherv", MPI_Gatherv_c(a, counts[rank], MPI_INT, b, counts, displs, MPI_INT, size - 1, MPI_COMM_WORLD));
  CALL("scatter", MPI_Scatter_c(a, n, MPI_INT, b, n, MPI_INT, 0, MPI_COMM_WORLD));
  CALL("scatterv", MPI_Scatterv_c(a, counts, displs, MPI_INT, b, counts[rank], MPI_INT, 0, MPI_COMM_WORLD));
  CALL("alltoall", MPI_Alltoall_c(a, n, MPI_INT, b, n, MPI_INT, MPI_COMM_WORLD));
  CALL("alltoallv", MPI_Alltoallv_c(a, same, places, MPI_INT, b, same, places, MPI_INT, MPI_COMM_WORLD));
  CALL("bcast", if (rank == 0) memcpy(b, a, sizeof(int) * n); MPI_Bcast_c(b, n, MPI_INT, 0, MPI_COMM_WORLD));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  free(a);
  free(b);
  free(counts);
  free(same);
  free(displs);
  free(places);
  return 0;
}
