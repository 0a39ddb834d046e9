/* Erroneous collective calls. Prints for each the class of the returned error, and the error handlers that were called
 * for it. Knows nothing of Circoll: its output must be the same with and without the drop-in.
 *   errors           user-defined error handlers, then MPI_ERRORS_RETURN, on a duplicate of MPI_COMM_WORLD
 *   errors nonblocking   the same with the nonblocking forms
 *   errors fatal     one erroneous call under MPI_ERRORS_ARE_FATAL: does not return */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "verdicts.h"

static void report_of(const char* collective, const char* what, int rc) {
  char line[60];
  snprintf(line, sizeof line, "%-20s %s", collective, what);
  report(line, rc);
}

static int is_reduction(const char* collective) {
  return strstr(collective, "reduce") != NULL || strstr(collective, "scan") != NULL;
}

/* True if the MPI library itself survives an erroneous call. Where the library does not check its arguments, it
 * crashes, or one rank waits for another that has been refused. "*" stands for all collectives. */
static int survives(const char* collective, const char* what) {
  static const struct {
    const char *collective, *what;
    int from_size; /* ranks from which on it does not */
  } fatal[] = {
#ifdef OPEN_MPI
      {"*", "no buffers", 1},
      {"*", "no send buffer", 1},
      {"exscan", "receives in place", 1},
      {"scatter", "negative send count", 1},
      {"scatterv", "negative send count", 1},
      {"allgatherv", "negative receive count", 1},
      {"scatterv", "types not committed", 1},
      {"allgather", "no communicator", 1},
      {"scatter", "in place where it may not be", 2},
      {"scatterv", "in place where it may not be", 2},
      {"allgatherv", "no counts", 1},
      {"bcast", "no buffer", 1},
#elif defined(MPICH_VERSION)
      {"allreduce", "negative count", 1},
      {"reduce", "negative count", 1},
      {"reduce_scatter_block", "negative count", 1},
      {"scan", "negative count", 1},
      {"exscan", "negative count", 1},
      {"*", "no counts", 1},
      {"*", "no send counts", 1},
      {"*", "no displacements", 1},
      {"scatter", "negative send count", 2},
      {"scatterv", "negative send count", 2},
      {"allgather", "equal buffers", 2},
      {"allgatherv", "equal buffers", 2},
      {"scatter", "equal buffers", 2},
      {"scatterv", "equal buffers", 2},
      {"alltoallv", "equal buffers", 1},
      {"scatter", "in place where it may not be", 2},
      {"scatterv", "in place where it may not be", 2},
      {"bcast", "in place", 2},
      /* MPICH survives these, but checks the receive buffer of rank 0, which does not matter. */
      {"exscan", "receives in place", 1},
      {"exscan", "equal buffers", 1},
#else
#error "Which erroneous calls this MPI library gets through is not known: write it here"
#endif
  };
  /* MPI libraries check fewer arguments of the nonblocking forms. */
  static const char* const seen[] = {"nothing wrong",
                                     "no operator",
                                     "operator not defined on the type",
                                     "operator of one-sided calls",
                                     "no type",
                                     "no type, user operator",
                                     "type not committed",
                                     "no communicator",
                                     "negative root",
                                     "root too large",
                                     "no types",
                                     "types not committed"};
  size_t i, found = 0;
  for (i = 0; i < sizeof seen / sizeof seen[0]; ++i) found += strcmp(seen[i], what) == 0;
  if (nonblocking && found == 0) return 0;
  if (reductions_need_types && strncmp(what, "no type", 7) == 0 && is_reduction(collective)) return 0;
  for (i = 0; i < sizeof fatal / sizeof fatal[0]; ++i) {
    if ((fatal[i].collective[0] == '*' || strcmp(fatal[i].collective, collective) == 0) &&
        strcmp(fatal[i].what, what) == 0 && size >= fatal[i].from_size)
      return 0;
  }
  return 1;
}

/* The communicator is as good as before. */
static void still_works(void) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (sum != size) printf("rank %d: the communicator is broken\n", rank);
}

enum { reductions = 6, movements = 8 };
static const char* const reduction_names[reductions] = {"allreduce",      "reduce", "reduce_scatter_block",
                                                        "reduce_scatter", "scan",   "exscan"};
static const char* const movement_names[movements] = {"allgather", "allgatherv", "gather",   "gatherv",
                                                      "scatter",   "scatterv",   "alltoall", "alltoallv"};
static int counts[2], displs[2];

static int reduction(int which, const void* a, void* b, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm c) {
  MPI_Request request = MPI_REQUEST_NULL;
  counts[0] = counts[1] = n;
  switch (which) {
    case 0:
      return CALL(Allreduce, allreduce, a, b, n, type, op, c);
    case 1:
      return CALL(Reduce, reduce, a, b, n, type, op, root, c);
    case 2:
      return CALL(Reduce_scatter_block, reduce_scatter_block, a, b, n, type, op, c);
    case 3:
      return CALL(Reduce_scatter, reduce_scatter, a, b, counts, type, op, c);
    case 4:
      return CALL(Scan, scan, a, b, n, type, op, c);
    default:
      return CALL(Exscan, exscan, a, b, n, type, op, c);
  }
}

static int movement(int which, const void* a, int n, MPI_Datatype type, void* b, int m, MPI_Datatype recvtype, int root,
                    MPI_Comm c) {
  MPI_Request request = MPI_REQUEST_NULL;
  int sendcounts[2], recvcounts[2];
  sendcounts[0] = sendcounts[1] = n;
  recvcounts[0] = recvcounts[1] = m;
  displs[0] = 0;
  displs[1] = 4;
  switch (which) {
    case 0:
      return CALL(Allgather, allgather, a, n, type, b, m, recvtype, c);
    case 1:
      return CALL(Allgatherv, allgatherv, a, n, type, b, recvcounts, displs, recvtype, c);
    case 2:
      return CALL(Gather, gather, a, n, type, b, m, recvtype, root, c);
    case 3:
      return CALL(Gatherv, gatherv, a, n, type, b, recvcounts, displs, recvtype, root, c);
    case 4:
      return CALL(Scatter, scatter, a, n, type, b, m, recvtype, root, c);
    case 5:
      return CALL(Scatterv, scatterv, a, sendcounts, displs, type, b, m, recvtype, root, c);
    case 6:
      return CALL(Alltoall, alltoall, a, n, type, b, m, recvtype, c);
    default:
      return CALL(Alltoallv, alltoallv, a, sendcounts, displs, type, b, recvcounts, displs, recvtype, c);
  }
}

#define TRY(collective, what, call)      \
  do {                                   \
    if (survives(collective, what)) {    \
      report_of(collective, what, call); \
      still_works();                     \
    }                                    \
  } while (0)

static void all_errors(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  double x[16] = {0}, y[16];
  int a[16] = {0}, b[16], i;
  MPI_Datatype uncommitted, pair;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(add, 1, &op);
#define REDUCTION(what, ...)                                  \
  for (i = 0; i < reductions; ++i) {                          \
    TRY(reduction_names[i], what, reduction(i, __VA_ARGS__)); \
  }
  REDUCTION("nothing wrong", a, b, 4, MPI_INT, MPI_SUM, 0, comm)
  REDUCTION("no operator", a, b, 4, MPI_INT, MPI_OP_NULL, 0, comm)
  REDUCTION("operator not defined on the type", x, y, 4, MPI_DOUBLE, MPI_BAND, 0, comm)
  REDUCTION("operator of one-sided calls", a, b, 4, MPI_INT, MPI_REPLACE, 0, comm)
  REDUCTION("predefined operator, derived type", a, b, 2, pair, MPI_SUM, 0, comm)
  REDUCTION("no type", a, b, 4, MPI_DATATYPE_NULL, MPI_SUM, 0, comm)
  REDUCTION("no type, user operator", a, b, 4, MPI_DATATYPE_NULL, op, 0, comm)
  REDUCTION("type not committed", a, b, 2, uncommitted, op, 0, comm)
  REDUCTION("negative count", a, b, -1, MPI_INT, MPI_SUM, 0, comm)
  REDUCTION("receives in place", a, MPI_IN_PLACE, 4, MPI_INT, MPI_SUM, 0, comm)
  REDUCTION("no communicator", a, b, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_NULL)
  REDUCTION("no send buffer", NULL, b, 4, MPI_INT, MPI_SUM, 0, comm)
  REDUCTION("no buffers", NULL, NULL, 4, MPI_INT, MPI_SUM, 0, comm)
  REDUCTION("equal buffers", b, b, 4, MPI_INT, MPI_SUM, 0, comm)
  TRY("reduce", "negative root", CALL(Reduce, reduce, a, b, 4, MPI_INT, MPI_SUM, -5, comm));
  TRY("reduce", "root too large", CALL(Reduce, reduce, a, b, 4, MPI_INT, MPI_SUM, size, comm));
  TRY("reduce_scatter", "no counts", MPI_Reduce_scatter(a, b, NULL, MPI_INT, MPI_SUM, comm));

#define MOVEMENT(what, ...)                                 \
  for (i = 0; i < movements; ++i) {                         \
    TRY(movement_names[i], what, movement(i, __VA_ARGS__)); \
  }
  MOVEMENT("nothing wrong", a, 4, MPI_INT, b, 4, MPI_INT, 0, comm)
  MOVEMENT("negative send count", a, -1, MPI_INT, b, 4, MPI_INT, 0, comm)
  MOVEMENT("negative receive count", a, 4, MPI_INT, b, -1, MPI_INT, 0, comm)
  MOVEMENT("negative counts", a, -1, MPI_INT, b, -1, MPI_INT, 0, comm)
  MOVEMENT("no types", a, 4, MPI_DATATYPE_NULL, b, 4, MPI_DATATYPE_NULL, 0, comm)
  MOVEMENT("types not committed", a, 2, uncommitted, b, 2, uncommitted, 0, comm)
  MOVEMENT("no communicator", a, 4, MPI_INT, b, 4, MPI_INT, 0, MPI_COMM_NULL)
  MOVEMENT("no buffers", NULL, 4, MPI_INT, NULL, 4, MPI_INT, 0, comm)
  MOVEMENT("equal buffers", b, 4, MPI_INT, b, 4, MPI_INT, 0, comm)
  for (i = 2; i < 6; ++i) {
    TRY(movement_names[i], "negative root", movement(i, a, 4, MPI_INT, b, 4, MPI_INT, -7, comm));
    TRY(movement_names[i], "root too large", movement(i, a, 4, MPI_INT, b, 4, MPI_INT, size, comm));
  }
  for (i = 0; i < movements; ++i) {
    /* The buffer that may not be in place. */
    const int scatters = i == 4 || i == 5;
    TRY(movement_names[i], "in place where it may not be",
        movement(i, scatters ? MPI_IN_PLACE : a, 4, MPI_INT, scatters ? b : MPI_IN_PLACE, 4, MPI_INT, 0, comm));
  }
  counts[0] = counts[1] = 4;
  TRY("allgatherv", "no counts", MPI_Allgatherv(a, 4, MPI_INT, b, NULL, displs, MPI_INT, comm));
  TRY("allgatherv", "no displacements", MPI_Allgatherv(a, 4, MPI_INT, b, counts, NULL, MPI_INT, comm));
  TRY("alltoallv", "no send counts", MPI_Alltoallv(a, NULL, displs, MPI_INT, b, counts, displs, MPI_INT, comm));
  TRY("alltoallv", "no displacements", MPI_Alltoallv(a, counts, NULL, MPI_INT, b, counts, NULL, MPI_INT, comm));

  TRY("bcast", "nothing wrong", CALL(Bcast, bcast, a, 4, MPI_INT, 0, comm));
  TRY("bcast", "negative count", CALL(Bcast, bcast, a, -1, MPI_INT, 0, comm));
  TRY("bcast", "no type", CALL(Bcast, bcast, a, 4, MPI_DATATYPE_NULL, 0, comm));
  TRY("bcast", "type not committed", CALL(Bcast, bcast, a, 2, uncommitted, 0, comm));
  TRY("bcast", "negative root", CALL(Bcast, bcast, a, 4, MPI_INT, -7, comm));
  TRY("bcast", "root too large", CALL(Bcast, bcast, a, 4, MPI_INT, size, comm));
  TRY("bcast", "no communicator", CALL(Bcast, bcast, a, 4, MPI_INT, 0, MPI_COMM_NULL));
  TRY("bcast", "no buffer", CALL(Bcast, bcast, NULL, 4, MPI_INT, 0, comm));
  TRY("bcast", "in place", CALL(Bcast, bcast, MPI_IN_PLACE, 4, MPI_INT, 0, comm));
  TRY("barrier", "no communicator", CALL(Barrier, barrier, MPI_COMM_NULL));

  /* One rank makes the wrong call, and the others do not call at all. */
  if (size > 1 && !nonblocking) {
    MPI_Comm used = comm;
    int rc = MPI_SUCCESS;
    MPI_Comm_dup(used, &comm);
    still_works();
    if (rank == 1) rc = MPI_Bcast(a, -4, MPI_INT, 0, comm);
    report_of("bcast", "negative count at one rank", rc);
    still_works();
#ifdef OPEN_MPI
    rc = MPI_SUCCESS;
    if (rank == 1) rc = MPI_Reduce(MPI_IN_PLACE, b, 4, MPI_INT, MPI_SUM, 0, comm);
    report_of("reduce", "in place but at the root", rc);
    still_works();
#endif
    MPI_Comm_free(&comm);
    comm = used;
  }
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 50000000
  {
    /* Open MPI cannot tell a handle that was freed. MPICH 5 returns MPI_SUCCESS when the handler has returned, so that
     * the drop-in asks on, and the handler is called more often than natively. */
    MPI_Comm freed, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &freed);
    copy = freed;
    MPI_Barrier(freed);
    MPI_Comm_free(&freed);
    TRY("allreduce", "communicator freed", MPI_Allreduce(a, b, 4, MPI_INT, MPI_SUM, copy));
    TRY("barrier", "communicator freed", MPI_Barrier(copy));
  }
#endif
  MPI_Type_free(&uncommitted);
  MPI_Type_free(&pair);
  MPI_Op_free(&op);
}

int main(int argc, char** argv) {
  MPI_Errhandler mine;
  int i = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (size > 2) MPI_Abort(MPI_COMM_WORLD, 2); /* arrays of counts */
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (argc > 1 && strcmp(argv[1], "fatal") == 0) {
    still_works();
    if (rank == 0) puts("about to be aborted");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&i, 1, MPI_INT, -5, comm);
    puts("went on after a fatal error");
  }
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(comm, mine);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
  nonblocking = argc > 1 && strcmp(argv[1], "nonblocking") == 0;
  all_errors();
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  all_errors();
  MPI_Comm_free(&comm);
  MPI_Errhandler_free(&mine);
  MPI_Finalize();
  return 0;
}
