/* Erroneous calls at one rank, under MPI_ERRORS_RETURN. Knows nothing of Circoll: its output must be the same with and
 * without the drop-in.
 *   retried          the rank makes the right call after the wrong one, while the others are waiting in it
 *   retried nonblocking   the same with nonblocking calls
 *   retried left     the others' call ends without the rank, which goes on with the calls that follow */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "either.h"
#include "no_type.h"

enum { n = 6, most = 16 };
static int rank, size;
static int in[n * most], out[n * most], counts[most], displs[most];
static MPI_Comm comm;

static const char* const names[] = {"allreduce",      "reduce",     "reduce_scatter_block",
                                    "reduce_scatter", "scan",       "exscan",
                                    "allgather",      "allgatherv", "gather",
                                    "gatherv",        "scatter",    "scatterv",
                                    "alltoall",       "alltoallv",  "bcast"};
enum { forms = sizeof names / sizeof names[0] };

static int call(int form, int nonblocking, MPI_Datatype type, int root) {
  MPI_Request request = MPI_REQUEST_NULL;
  switch (form) {
    case 0:
      return CALL(Allreduce, allreduce, in, out, n, type, MPI_SUM, comm);
    case 1:
      return CALL(Reduce, reduce, in, out, n, type, MPI_SUM, root, comm);
    case 2:
      return CALL(Reduce_scatter_block, reduce_scatter_block, in, out, n, type, MPI_SUM, comm);
    case 3:
      return CALL(Reduce_scatter, reduce_scatter, in, out, counts, type, MPI_SUM, comm);
    case 4:
      return CALL(Scan, scan, in, out, n, type, MPI_SUM, comm);
    case 5:
      return CALL(Exscan, exscan, in, out, n, type, MPI_SUM, comm);
    case 6:
      return CALL(Allgather, allgather, in, n, type, out, n, type, comm);
    case 7:
      return CALL(Allgatherv, allgatherv, in, n, type, out, counts, displs, type, comm);
    case 8:
      return CALL(Gather, gather, in, n, type, out, n, type, root, comm);
    case 9:
      return CALL(Gatherv, gatherv, in, n, type, out, counts, displs, type, root, comm);
    case 10:
      return CALL(Scatter, scatter, in, n, type, out, n, type, root, comm);
    case 11:
      return CALL(Scatterv, scatterv, in, counts, displs, type, out, n, type, root, comm);
    case 12:
      return CALL(Alltoall, alltoall, in, n, type, out, n, type, comm);
    case 13:
      return CALL(Alltoallv, alltoallv, in, counts, displs, type, out, counts, displs, type, comm);
    default:
      return CALL(Bcast, bcast, out, n, type, root, comm);
  }
}

static void fill(void) {
  int i;
  for (i = 0; i < n * most; ++i) in[i] = rank * 1000 + i, out[i] = rank == size - 1 ? -i : -1;
}

static void report(const char* what, int rc) {
  unsigned long long hash = 1469598103934665603ULL, all[most];
  int i;
  for (i = 0; i < n * size; ++i) hash = (hash ^ (unsigned)out[i]) * 1099511628211ULL;
  hash = (hash ^ (unsigned)(rc != MPI_SUCCESS)) * 1099511628211ULL;
  MPI_Gather(&hash, 1, MPI_UNSIGNED_LONG_LONG, all, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  for (i = 0; rank == 0 && i < size; ++i) printf("%-28s rank %d: %016llx\n", what, i, all[i]);
}

/* A type that MPI refuses. */
static MPI_Datatype wrong_type(int form) {
  static MPI_Datatype open = MPI_DATATYPE_NULL; /* not committed, and not freed */
  if (!reductions_need_types || form >= 6) return MPI_DATATYPE_NULL;
  if (open == MPI_DATATYPE_NULL) MPI_Type_vector(2, 1, 2, MPI_INT, &open);
  return open;
}

/* Makes the wrong call twice, on a communicator where the right call is the first one, and on a communicator in use. */
static void retried(int nonblocking) {
  const int root = size - 1;
  int form, who, used;
  for (form = 0; form < forms; ++form) {
    for (used = 0; used < 2; ++used) {
      for (who = 0; who < size; ++who) {
        int rc = MPI_SUCCESS, tries;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        if (used) MPI_Barrier(comm);
        fill();
        for (tries = 0; tries < 2 && rank == who; ++tries) {
          /* A type is not significant where nothing is sent or received. */
          const int wrong =
              form == 14 ? call(form, nonblocking, MPI_INT, -3) : call(form, nonblocking, wrong_type(form), root);
          if (wrong == MPI_SUCCESS) printf("rank %d: the wrong %s succeeds\n", rank, names[form]);
        }
        rc = call(form, nonblocking, MPI_INT, root);
        report(names[form], rc);
        fill();
        rc = call((form + 1) % forms, nonblocking, MPI_INT, root);
        rc = rc == MPI_SUCCESS ? call(form, nonblocking, MPI_INT, root) : rc;
        report("and on", rc);
        MPI_Comm_free(&comm);
      }
    }
  }
}

/* Gathers and reductions end at ranks that receive nothing, and leave their messages behind. No later call may get
 * these messages, except one of the same collective on this communicator. */
static void left(void) {
  static const int collecting[] = {1, 8};
  int i, turn, rc;
  for (i = 0; i < 2; ++i) {
    const int form = collecting[i];
    for (turn = 0; turn < 20; ++turn) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      if (turn % 2 == 0) MPI_Barrier(comm);
      fill();
      rc = call(form, 0, rank == 0 ? wrong_type(form) : MPI_INT, 0);
      if ((rc != MPI_SUCCESS) != (rank == 0)) printf("rank %d: %s returns %d\n", rank, names[form], rc);
      fill();
      rc = call(form == 8 ? 0 : 12, 0, MPI_INT, 0);
      report(names[form], rc);
      fill();
      rc = call(14, 0, MPI_INT, size - 1);
      report("and on", rc);
      MPI_Comm_free(&comm);
      /* Another communicator, which may get the same tags, is as good as new. */
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      fill();
      rc = call(form, 0, MPI_INT, 0);
      report("another communicator", rc);
      MPI_Comm_free(&comm);
    }
  }
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  int i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < size; ++i) counts[i] = n, displs[i] = i * n;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (strcmp(what, "left") == 0) {
    left();
  } else {
    retried(strcmp(what, "nonblocking") == 0);
  }
  MPI_Finalize();
  return 0;
}
