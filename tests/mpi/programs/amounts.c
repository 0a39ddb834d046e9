/* Calls whose amounts do not match between ranks. MPI leaves the data undefined, but an error must not be a hang. All
 * ranks return, and a rank that receives more than it has room for returns an error. The communicator can be used on.
 * usage: amounts COLLECTIVE...; prints a line per call and rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 100000, ranks = 16 };
static int rank, size;
static int in[most], out[most], counts[ranks], displs[ranks];

static int waited(int rc, MPI_Request* request) {
  return rc == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : rc;
}

/* The root is the last rank. Senders send `sends` elements of a block, and receivers have room for `room`. */
static int call(const char* name, int sends, int room, MPI_Comm comm) {
  const int root = size - 1, here = rank == root;
  MPI_Request request;
  int i;
  for (i = 0; i < size; ++i) counts[i] = strcmp(name, "scatterv") == 0 ? sends : room, displs[i] = i * (most / ranks);
  if (strcmp(name, "gatherv") == 0) counts[root] = sends;
  if (strcmp(name, "bcast") == 0) return MPI_Bcast(here ? in : out, here ? sends : room, MPI_INT, root, comm);
  if (strcmp(name, "ibcast") == 0)
    return waited(MPI_Ibcast(here ? in : out, here ? sends : room, MPI_INT, root, comm, &request), &request);
  if (strcmp(name, "gather") == 0) return MPI_Gather(in, here ? room : sends, MPI_INT, out, room, MPI_INT, root, comm);
  if (strcmp(name, "scatter") == 0)
    return MPI_Scatter(in, sends, MPI_INT, out, here ? sends : room, MPI_INT, root, comm);
  if (strcmp(name, "gatherv") == 0) return MPI_Gatherv(in, sends, MPI_INT, out, counts, displs, MPI_INT, root, comm);
  if (strcmp(name, "scatterv") == 0)
    return MPI_Scatterv(in, counts, displs, MPI_INT, out, here ? sends : room, MPI_INT, root, comm);
  MPI_Abort(MPI_COMM_WORLD, 2);
  return 0;
}

int main(int argc, char** argv) {
  static const int amounts[][2] = {{10, 5}, {3000, 2990}, {6000, 4}, {6000, 5999}};
  MPI_Comm comm;
  int i, k, turn, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (i = 0; i < most; ++i) in[i] = i;
  for (i = 1; i < argc; ++i) {
    for (k = 0; k < 4; ++k) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      for (turn = 0; turn < 3; ++turn) {
        int one = 1, sum = 0, errors = 0, error;
        memset(out, 0, sizeof out);
        error = call(argv[i], amounts[k][0], amounts[k][1], comm) != MPI_SUCCESS;
        MPI_Allreduce(&error, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0)
          printf("%s of %d for %d: %s\n", argv[i], amounts[k][0], amounts[k][1], errors > 0 ? "errors" : "no error");
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        wrong += sum != size;
        /* After the wrong call a right one succeeds. */
        if (call(argv[i], 50, 50, comm) != MPI_SUCCESS) ++wrong;
        if (argv[i][0] != 'g' && rank != size - 1)
          wrong += out[49] % (most / ranks) != 49 + (strncmp(argv[i], "scatter", 8) == 0 ? rank * 50 : 0);
      }
      MPI_Comm_free(&comm);
    }
  }
  if (wrong > 0) printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong > 0;
}
