/* Calls the collectives of MPI 4 with 64-bit counts and prints a digest of every result. Knows nothing of Circoll. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

/* One line per call on rank 0: the digests of all ranks, combined by point-to-point messages. */
static void report(const char* what, const int* data, int n) {
  uint64_t own = 1469598103934665603u, other;
  int i;
  for (i = 0; i < n; ++i) own = (own ^ (uint64_t)(unsigned)data[i]) * 1099511628211u;
  if (rank != 0) {
    MPI_Send(&own, 1, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD);
    return;
  }
  for (i = 1; i < size; ++i) {
    MPI_Recv(&other, 1, MPI_UINT64_T, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    own = (own ^ other) * 1099511628211u;
  }
  printf("%-24s %016llx\n", what, (unsigned long long)own);
}

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
  report(name, b, all)
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
