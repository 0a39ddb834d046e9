/* calls LOG: calls every collective entry point once, each with a number of elements of its own, checks the results,
 * and writes into LOG.<rank> a line for each: "ok NAME", "wrong NAME" or "absent NAME". The calls are written by
 * make_calls.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../programs/persistent.h"

#define HAVE_LARGE (MPI_VERSION >= 4)
#define HAVE_PERSISTENT 1

enum { most_ranks = 8, most_elements = 192 };

static FILE* file;
static int rank, size, n;
static const char* collective;
static int send[most_ranks * most_elements], recv[most_ranks * most_elements];
static int counts[most_ranks], displs[most_ranks], bytes[most_ranks];
static MPI_Datatype types[most_ranks];
static MPI_Request request;
static MPI_Comm neighbors; /* every rank is a neighbour of every rank, and of itself */
static MPI_Aint addresses[most_ranks];
#if HAVE_LARGE
static MPI_Count n_c, counts_c[most_ranks];
static MPI_Aint displs_c[most_ranks], bytes_c[most_ranks];
#endif

/* The value that rank r contributes at index i. */
static int contribution(int r, int i) { return 10000 * (r + 1) + i; }

static int sum(int ranks, int i) {
  int r, result = 0;
  for (r = 0; r < ranks; ++r) result += contribution(r, i);
  return result;
}

static int is(const char* name) { return strcmp(collective, name) == 0; }
static int is_some(const char* begin) { return strncmp(collective, begin, strlen(begin)) == 0; }

/* The number of elements of the result, and their values; -1 stays where nothing is received. */
static int result_elements(void) {
  if (is("barrier") || (rank != 0 && (is_some("gather") || is("reduce"))) || (rank == 0 && is("exscan"))) return 0;
  return is_some("gather") || is_some("allgather") || is_some("alltoall") ? n * size : n;
}

static int expected(int i) {
  const int block = i / n, within = i % n;
  if (is("bcast")) return contribution(0, i);
  if (is_some("gather") || is_some("allgather")) return contribution(block, within);
  if (is_some("scatter")) return contribution(0, rank * n + within);
  if (is_some("alltoall")) return contribution(block, rank * n + within);
  if (is_some("reduce_scatter")) return sum(size, rank * n + within);
  if (is("scan")) return sum(rank + 1, i);
  if (is("exscan")) return sum(rank, i);
  return sum(size, i);
}

static void begin(const char* name, int elements) {
  int i;
  collective = strncmp(name, "neighbor_", 9) == 0 ? name + 9 : name;
  n = elements;
  for (i = 0; i < most_ranks * most_elements; ++i) {
    send[i] = contribution(rank, i);
    recv[i] = is("bcast") && rank == 0 && i < n ? send[i] : -1;
  }
  for (i = 0; i < size; ++i) {
    counts[i] = n;
    displs[i] = i * n;
    bytes[i] = (int)sizeof(int) * i * n;
    addresses[i] = bytes[i];
    types[i] = MPI_INT;
#if HAVE_LARGE
    n_c = n;
    counts_c[i] = n;
    displs_c[i] = displs[i];
    bytes_c[i] = bytes[i];
#endif
  }
}

static void finish(const char* name) {
  int i, right = 1;
  for (i = 0; i < most_ranks * most_elements; ++i) {
    right = right && recv[i] == (i < result_elements() ? expected(i) : -1);
  }
  fprintf(file, "%s %s\n", right ? "ok" : "wrong", name);
}

/* Functions that the library does not define either are absent. */
static void absent(const char* name) {
  fprintf(file, "%s %s\n", dlsym(RTLD_DEFAULT, name) == NULL ? "absent" : "wrong", name);
}

int main(int argc, char** argv) {
  char name[4096];
  int i, ranks[most_ranks];
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > most_ranks) MPI_Abort(MPI_COMM_WORLD, 1);
  snprintf(name, sizeof name, "%s.%d", argv[1], rank);
  file = fopen(name, "w");
  if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (i = 0; i < size; ++i) ranks[i] = i;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size, ranks, ranks, size, ranks, ranks, MPI_INFO_NULL, 0, &neighbors);
#include "matrix_calls.inc"
  MPI_Comm_free(&neighbors);
  (void)absent;
  fclose(file);
  MPI_Finalize();
  return 0;
}
