/* An alltoall(v) in place of long blocks takes little memory beside the buffer, and its results are right.
 * usage: inplace_memory MEBIBYTES LIMIT. Blocks have MEBIBYTES MiB, and each call may add LIMIT MiB of resident
 * memory. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, wrong;

static long resident_mib(void) { /* the most so far */
  char line[256];
  long kib = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) sscanf(line, "VmHWM: %ld", &kib);
  if (file != NULL) fclose(file);
  return kib >> 10;
}

/* Word `at` of the block that `from` sends to `to`. */
static int word(int from, int to, long at) { return (int)(at * 31 + from * 7 + to); }

static void check(const char* name, int variant, char* memory, long words, long stride, long limit) {
  const int ext = variant == 3 ? 2 : 1; /* words from one element to the next */
  int* const buffer = (int*)memory;
  int *counts = malloc(2 * (size_t)size * sizeof *counts), *displs = counts + size;
  long before, grown;
  int i;
  MPI_Request request;
  MPI_Datatype gaps;
  MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &gaps);
  MPI_Type_commit(&gaps);
  for (i = 0; i < size; ++i) {
    /* Sizes are symmetric, differ, and some are 0. */
    const long mine = variant == 2 ? words / (1 + (i + rank) % 3) * ((i + rank) % 4 != 3) : words;
    long at;
    counts[i] = (int)mine, displs[i] = (int)(i * stride);
    for (at = 0; at < mine; ++at) buffer[i * stride * ext + at * ext] = word(rank, i, at);
  }
  before = resident_mib();
  if (variant == 0) MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, buffer, (int)words, MPI_INT, MPI_COMM_WORLD);
  if (variant == 1) {
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, buffer, (int)words, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (variant == 2) MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, buffer, counts, displs, MPI_INT, MPI_COMM_WORLD);
  if (variant == 3) MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, buffer, (int)words, gaps, MPI_COMM_WORLD);
  grown = resident_mib() - before;
  if (grown > limit) ++wrong, printf("%s: rank %d: %ld MiB more resident memory\n", name, rank, grown);
  for (i = 0; i < size; ++i) {
    long at, bad = 0;
    for (at = 0; at < counts[i]; ++at) bad += buffer[i * stride * ext + at * ext] != word(i, rank, at);
    if (bad > 0) ++wrong, printf("%s: rank %d: %ld wrong words from rank %d\n", name, rank, bad, i);
  }
  MPI_Type_free(&gaps);
  free(counts);
}

int main(int argc, char** argv) {
  const long words = (argc > 1 ? atol(argv[1]) : 16) * (1 << 18) - 5; /* not a multiple of anything */
  const long limit = argc > 2 ? atol(argv[2]) : 1000;
  char* memory;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  memory = malloc((size_t)size * (size_t)words * sizeof(int));
  memset(memory, 1, (size_t)size * (size_t)words * sizeof(int));
  MPI_Barrier(MPI_COMM_WORLD);
  check("alltoall", 0, memory, words, words, limit);
  check("ialltoall", 1, memory, words, words, limit);
  check("alltoallv", 2, memory, words, words, limit);
  check("alltoall with gaps", 3, memory, words / 2, words / 2, limit);
  check("alltoall again", 0, memory, words, words, limit);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", wrong == 0 ? "right" : "wrong");
  MPI_Finalize();
  free(memory);
  return wrong != 0;
}
