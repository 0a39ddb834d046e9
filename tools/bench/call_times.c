/* Times each collective call on MPI_COMM_WORLD: for lab/experiments/learning/run only. LD_PRELOAD names it in front of
 * the drop-in, or alone. The greatest times of all ranks go to the file CALL_TIMES. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_kinds = 256 };

struct kind {
  const char* collective;
  long long bytes; /* of the whole vector */
};

static struct kind kinds[most_kinds];
static int kind_count;
static int* kind_of_call;
static double* seconds_of_call;
static int calls, room;

static int kind_number(const char* collective, long long bytes) {
  for (int i = 0; i < kind_count; ++i) {
    if (kinds[i].collective == collective && kinds[i].bytes == bytes) return i;
  }
  if (kind_count == most_kinds) abort();
  kinds[kind_count].collective = collective;
  kinds[kind_count].bytes = bytes;
  return kind_count++;
}

static void record(const char* collective, MPI_Comm comm, int count, MPI_Datatype type, int blocks, double seconds) {
  if (comm != MPI_COMM_WORLD) return;
  int bytes = 0, size = 1;
  PMPI_Type_size(type, &bytes);
  PMPI_Comm_size(comm, &size);
  if (calls == room) {
    room = room == 0 ? 4096 : 2 * room;
    kind_of_call = realloc(kind_of_call, sizeof(int) * (size_t)room);
    seconds_of_call = realloc(seconds_of_call, sizeof(double) * (size_t)room);
    if (kind_of_call == NULL || seconds_of_call == NULL) abort();
  }
  kind_of_call[calls] = kind_number(collective, (long long)bytes * count * (blocks ? size : 1));
  seconds_of_call[calls++] = seconds;
}

/* Defines MPI_<name>, which calls the next one of that name. `blocks`: `count` is that of one rank's block. */
#define TIMED(name, parameters, arguments, count, type, blocks)        \
  int MPI_##name parameters {                                          \
    static int(*next) parameters;                                      \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "MPI_" #name); \
    const double begin = PMPI_Wtime();                                 \
    const int rc = next arguments;                                     \
    record(#name, comm, count, type, blocks, PMPI_Wtime() - begin);    \
    return rc;                                                         \
  }

TIMED(Allreduce, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm), (s, r, n, t, op, comm), n,
      t, 0)
TIMED(Reduce, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm),
      (s, r, n, t, op, root, comm), n, t, 0)
TIMED(Reduce_scatter_block, (const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),
      (s, r, n, t, op, comm), n, t, 1)
TIMED(Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm comm), (b, n, t, root, comm), n, t, 0)
TIMED(Allgather, (const void* s, int sn, MPI_Datatype st, void* r, int n, MPI_Datatype t, MPI_Comm comm),
      (s, sn, st, r, n, t, comm), n, t, 1)
TIMED(Alltoall, (const void* s, int sn, MPI_Datatype st, void* r, int n, MPI_Datatype t, MPI_Comm comm),
      (s, sn, st, r, n, t, comm), n, t, 1)
TIMED(Gather, (const void* s, int n, MPI_Datatype t, void* r, int rn, MPI_Datatype rt, int root, MPI_Comm comm),
      (s, n, t, r, rn, rt, root, comm), n, t, 1)
TIMED(Scatter, (const void* s, int sn, MPI_Datatype st, void* r, int n, MPI_Datatype t, int root, MPI_Comm comm),
      (s, sn, st, r, n, t, root, comm), n, t, 1)

/* Blocks are taken to be equal. */
TIMED(Allgatherv,
      (const void* s, int n, MPI_Datatype t, void* r, const int* rn, const int* d, MPI_Datatype rt, MPI_Comm comm),
      (s, n, t, r, rn, d, rt, comm), n, t, 1)
TIMED(Gatherv,
      (const void* s, int n, MPI_Datatype t, void* r, const int* rn, const int* d, MPI_Datatype rt, int root,
       MPI_Comm comm),
      (s, n, t, r, rn, d, rt, root, comm), n, t, 1)
TIMED(Scatterv,
      (const void* s, const int* sn, const int* d, MPI_Datatype st, void* r, int n, MPI_Datatype t, int root,
       MPI_Comm comm),
      (s, sn, d, st, r, n, t, root, comm), n, t, 1)
TIMED(Alltoallv,
      (const void* s, const int* sn, const int* d, MPI_Datatype t, void* r, const int* rn, const int* rd,
       MPI_Datatype rt, MPI_Comm comm),
      (s, sn, d, t, r, rn, rd, rt, comm), sn[0], t, 1)

static void write_times(const char* path) {
  FILE* file = fopen(path, "w");
  if (file == NULL) return;
  fprintf(file, "{\"rows\": [");
  for (int kind = 0; kind < kind_count; ++kind) {
    fprintf(file, "%s\n {\"collective\": \"%s\", \"bytes\": %lld, \"seconds\": [", kind == 0 ? "" : ",",
            kinds[kind].collective, kinds[kind].bytes);
    const char* comma = "";
    for (int call = 0; call < calls; ++call) {
      if (kind_of_call[call] != kind) continue;
      fprintf(file, "%s%.9g", comma, seconds_of_call[call]);
      comma = ", ";
    }
    fprintf(file, "]}");
  }
  fprintf(file, "\n]}\n");
  fclose(file);
}

int MPI_Finalize(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Allreduce(MPI_IN_PLACE, seconds_of_call, calls, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const char* const path = getenv("CALL_TIMES");
  if (rank == 0 && path != NULL) write_times(path);
  int (*next)(void);
  *(void**)&next = dlsym(RTLD_NEXT, "MPI_Finalize");
  return next();
}
