/* Calls of many kinds, repeated often, on two communicators that take turns, so that Circoll can learn from them.
 * Prints a digest of all results of every rank. Usage: learning CALLS [MICROSECONDS], by which rank 0 is late for each
 * MPI_Alltoallv: so long calls pay for trials. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned late_us = 0;

static uint64_t digest = 14695981039346656037ULL;

static void add(const void* data, size_t bytes) {
  const unsigned char* byte = data;
  for (size_t i = 0; i < bytes; ++i) digest = (digest ^ byte[i]) * 1099511628211ULL;
}

/* Values whose sums are rounded, and differ in every order. */
static void fill(float* values, int n, int rank, int call) {
  for (int i = 0; i < n; ++i) values[i] = (float)((rank * 7919 + i * 104729 + call * 31) % 1000003) / 977.0F;
}

static void one(int call, MPI_Comm comm, float* mine, float* all) {
  enum { few = 3, many = 700, kinds = 16, most_ranks = 64 };
  const int n = call / kinds % 2 == 0 ? few : many;
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  fill(mine, n * size, rank, call);
  memset(all, 0, sizeof(float) * (size_t)(n * size));
  MPI_Request request;
  int sum = rank + call, total = 0;
  int counts[most_ranks], displs[most_ranks], fews[most_ranks];
  for (int i = 0; i < size; ++i) {
    counts[i] = n;
    displs[i] = i * n;
    fews[i] = few;
  }
  switch (call % kinds) {
    case 0:
      MPI_Allreduce(mine, all, n, MPI_FLOAT, MPI_SUM, comm);
      break;
    case 1:
      MPI_Reduce(mine, all, n, MPI_FLOAT, MPI_SUM, size - 1, comm);
      break;
    case 2:
      MPI_Reduce_scatter_block(mine, all, n, MPI_FLOAT, MPI_SUM, comm);
      break;
    case 3:
      MPI_Scan(mine, all, n, MPI_FLOAT, MPI_SUM, comm);
      break;
    case 4:
      MPI_Bcast(rank == 0 ? memcpy(all, mine, sizeof(float) * (size_t)n) : all, n, MPI_FLOAT, 0, comm);
      break;
    case 5:
      MPI_Allgather(mine, n, MPI_FLOAT, all, n, MPI_FLOAT, comm);
      break;
    case 6:
      MPI_Gather(mine, n, MPI_FLOAT, all, n, MPI_FLOAT, 0, comm);
      break;
    case 7:
      MPI_Scatter(mine, n, MPI_FLOAT, all, n, MPI_FLOAT, 0, comm);
      break;
    case 8:
      MPI_Alltoall(mine, n, MPI_FLOAT, all, n, MPI_FLOAT, comm);
      break;
    case 9:
      MPI_Barrier(comm);
      break;
    case 10:
      MPI_Allreduce(&sum, &total, 1, MPI_INT, MPI_SUM, comm);
      break;
    case 11:
      MPI_Allgatherv(mine, n, MPI_FLOAT, all, counts, displs, MPI_FLOAT, comm);
      break;
    case 12: /* sizes change from call to call, and only the root knows */
      MPI_Gatherv(mine, n, MPI_FLOAT, all, counts, displs, MPI_FLOAT, 0, comm);
      break;
    case 13:
      MPI_Scatterv(mine, counts, displs, MPI_FLOAT, all, n, MPI_FLOAT, 0, comm);
      break;
    case 14: /* the same sizes in each call */
      if (rank == 0 && late_us > 0) usleep(late_us);
      MPI_Alltoallv(mine, fews, displs, MPI_FLOAT, all, fews, displs, MPI_FLOAT, comm);
      break;
    default:
      MPI_Iallreduce(mine, all, n, MPI_FLOAT, MPI_SUM, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  add(all, sizeof(float) * (size_t)(n * size));
  add(&total, sizeof total);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 1000;
  if (argc > 2) late_us = (unsigned)atoi(argv[2]);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm other;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &other);
  float* mine = malloc(sizeof(float) * 700 * (size_t)size);
  float* all = malloc(sizeof(float) * 700 * (size_t)size);
  for (int call = 0; call < calls; ++call) {
    one(call, MPI_COMM_WORLD, mine, all);
    if (call % 5 == 0) one(call / 5, other, mine, all);
  }
  uint64_t digests[64];
  MPI_Gather(&digest, 1, MPI_UINT64_T, digests, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i) printf("rank %d: %016llx\n", i, (unsigned long long)digests[i]);
  MPI_Comm_free(&other);
  free(mine);
  free(all);
  MPI_Finalize();
  return 0;
}
