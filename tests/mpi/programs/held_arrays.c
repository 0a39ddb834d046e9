/* Nonblocking and persistent collectives. The program overwrites and unmaps their arrays of counts and displacements as
 * soon as the call has returned. Knows nothing of Circoll: its output must be the same with and without the drop-in.
 * held_arrays [persistent]: persistent requests too, where those of the MPI library work. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "persistent.h"

enum { most = 64, block = 40, page = 4096 };
static int rank, size;
static int in[most * block], out[most * block];

/* Four arrays on pages of their own. */
struct Arrays {
  int* at[4];
};

static struct Arrays make(void) {
  struct Arrays a;
  int i, k;
  for (k = 0; k < 4; ++k) {
    a.at[k] = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (i = 0; i < size; ++i) a.at[k][i] = k % 2 == 0 ? 1 + (i * 7 + size) % (block - 1) : (size - 1 - i) * block;
  }
  return a;
}

static void drop(struct Arrays a) {
  int k;
  for (k = 0; k < 4; ++k) {
    memset(a.at[k], 0x5a, page);
    munmap(a.at[k], page);
  }
}

static void fill(void) {
  int i;
  for (i = 0; i < most * block; ++i) in[i] = rank * 100000 + i, out[i] = rank * 100000 + i;
}

static void report(const char* what) {
  unsigned long long hash = 1469598103934665603ULL;
  unsigned long long all[most];
  int i;
  for (i = 0; i < most * block; ++i) hash = (hash ^ (unsigned)out[i]) * 1099511628211ULL;
  MPI_Gather(&hash, 1, MPI_UNSIGNED_LONG_LONG, all, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  for (i = 0; rank == 0 && i < size; ++i) printf("%-34s rank %d: %016llx\n", what, i, all[i]);
}

static const char* const names[] = {
    "reduce_scatter", "reduce_scatter in place", "allgatherv",        "allgatherv in place",
    "gatherv",        "gatherv in place",        "scatterv",          "scatterv in place",
    "alltoallv",      "alltoallv in place",      "alltoallv segments"};
enum { forms = sizeof names / sizeof names[0] };

/* Counts of an exchange must be the same on both sides. */
static void symmetric(struct Arrays a) {
  int i;
  for (i = 0; i < size; ++i)
    a.at[0][i] = a.at[2][i] = 1 + (i + rank) % (block - 1), a.at[1][i] = a.at[3][i] = i * block;
}

#define ALL(form, ...)                                                                                                 \
  switch (form) {                                                                                                      \
    case 0:                                                                                                            \
      return CALL(reduce_scatter, in, out, a.at[0], MPI_INT, MPI_SUM, MPI_COMM_WORLD __VA_ARGS__);                     \
    case 1:                                                                                                            \
      return CALL(reduce_scatter, MPI_IN_PLACE, out, a.at[0], MPI_INT, MPI_SUM, MPI_COMM_WORLD __VA_ARGS__);           \
    case 2:                                                                                                            \
      return CALL(allgatherv, in, a.at[0][rank], MPI_INT, out, a.at[0], a.at[1], MPI_INT, MPI_COMM_WORLD __VA_ARGS__); \
    case 3:                                                                                                            \
      return CALL(allgatherv, MPI_IN_PLACE, 0, MPI_INT, out, a.at[0], a.at[1], MPI_INT, MPI_COMM_WORLD __VA_ARGS__);   \
    case 4:                                                                                                            \
      return CALL(gatherv, in, a.at[0][rank], MPI_INT, out, a.at[0], a.at[1], MPI_INT, size - 1,                       \
                  MPI_COMM_WORLD __VA_ARGS__);                                                                         \
    case 5:                                                                                                            \
      return CALL(gatherv, rank == 0 ? MPI_IN_PLACE : in, a.at[0][rank], MPI_INT, out, a.at[0], a.at[1], MPI_INT, 0,   \
                  MPI_COMM_WORLD __VA_ARGS__);                                                                         \
    case 6:                                                                                                            \
      return CALL(scatterv, in, a.at[0], a.at[1], MPI_INT, out, a.at[0][rank], MPI_INT, size - 1,                      \
                  MPI_COMM_WORLD __VA_ARGS__);                                                                         \
    case 7:                                                                                                            \
      return CALL(scatterv, in, a.at[0], a.at[1], MPI_INT, rank == 0 ? MPI_IN_PLACE : out, a.at[0][rank], MPI_INT, 0,  \
                  MPI_COMM_WORLD __VA_ARGS__);                                                                         \
    case 8:                                                                                                            \
    case 10:                                                                                                           \
      return CALL(alltoallv, in, a.at[0], a.at[1], MPI_INT, out, a.at[2], a.at[3], MPI_INT,                            \
                  MPI_COMM_WORLD __VA_ARGS__);                                                                         \
    default:                                                                                                           \
      return CALL(alltoallv, MPI_IN_PLACE, NULL, NULL, MPI_INT, out, a.at[2], a.at[3], MPI_INT,                        \
                  MPI_COMM_WORLD __VA_ARGS__);                                                                         \
  }

#define CALL(name, ...) START_##name(__VA_ARGS__)
#define START_reduce_scatter MPI_Ireduce_scatter
#define START_allgatherv MPI_Iallgatherv
#define START_gatherv MPI_Igatherv
#define START_scatterv MPI_Iscatterv
#define START_alltoallv MPI_Ialltoallv
#define COMMA ,
static int start(int form, struct Arrays a, MPI_Request* request) { ALL(form, COMMA request) }
#undef CALL
#define CALL(name, ...) INIT_##name(__VA_ARGS__)
#define INIT_reduce_scatter PERSISTENT(Reduce_scatter)
#define INIT_allgatherv PERSISTENT(Allgatherv)
#define INIT_gatherv PERSISTENT(Gatherv)
#define INIT_scatterv PERSISTENT(Scatterv)
#define INIT_alltoallv PERSISTENT(Alltoallv)
static int init(int form, struct Arrays a, MPI_Request* request) { ALL(form, COMMA MPI_INFO_NULL COMMA request) }

int main(int argc, char** argv) {
  int form, again;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (form = 0; form < forms; ++form) {
    struct Arrays a = make();
    MPI_Request request;
    if (form >= 8) symmetric(a);
    fill();
    start(form, a, &request);
    drop(a);
    if (rank == size / 2) MPI_Barrier(MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    report(names[form]);
  }
  for (form = 0; form < forms && argc > 1; ++form) {
    struct Arrays a = make();
    MPI_Request request;
    char what[64];
    if (form >= 8) symmetric(a);
    init(form, a, &request);
    drop(a);
    for (again = 0; again < 2; ++again) {
      fill();
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      snprintf(what, sizeof what, "%s, persistent", names[form]);
      report(what);
    }
    MPI_Request_free(&request);
  }
  MPI_Finalize();
  return 0;
}
