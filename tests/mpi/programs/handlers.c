/* The error handler that hears of an error, if the program has set one on a single communicator. Knows nothing of
 * Circoll: its output, and how it ends, must be the same with and without the drop-in.
 *   handlers world|self made|self|none|waitall   the communicator that has a handler, and where the error appears */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static MPI_Comm made;
static const char* heard = "nobody";

static void handler(MPI_Comm* comm, int* code, ...) {
  (void)code;
  heard = *comm == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : *comm == MPI_COMM_SELF ? "MPI_COMM_SELF" : "another one";
}

/* Rank 0 waits for a receive that is too short, together with a collective. */
static void fail_in_waitall(int rank) {
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int in = 1, sum = 0, two[2] = {1, 2}, one[2], i;
  MPI_Irecv(one, rank == 0 ? 1 : 2, MPI_INT, rank, 5, made, &requests[0]);
  MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, made, &requests[1]);
  MPI_Isend(two, 2, MPI_INT, rank, 5, made, &requests[2]);
  MPI_Waitall(3, requests, statuses);
  for (i = 0; i < 3; ++i) {
    if (requests[i] != MPI_REQUEST_NULL) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Errhandler mine;
  int rank, in = 1, sum = 0;
  MPI_Init(&argc, &argv);
  if (argc != 3) return 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(strcmp(argv[1], "self") == 0 ? MPI_COMM_SELF : MPI_COMM_WORLD, mine);
  MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, made);
  MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  if (rank == 0) { /* the others wait, so that the order of lines is the same in all runs */
    puts("begins");
    fflush(stdout);
    if (strcmp(argv[2], "made") == 0) MPI_Send(&in, 1, MPI_INT, 99, 0, made);
    if (strcmp(argv[2], "self") == 0) MPI_Send(&in, 1, MPI_INT, 99, 0, MPI_COMM_SELF);
    if (strcmp(argv[2], "none") == 0) MPI_Type_size(MPI_DATATYPE_NULL, &in);
  }
  if (strcmp(argv[2], "waitall") == 0) fail_in_waitall(rank);
  if (rank == 0) printf("%s hears of an error on %s\n", heard, argv[2]);
  MPI_Finalize();
  return 0;
}
