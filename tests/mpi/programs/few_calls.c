/* Few calls on each communicator: 3 on MPI_COMM_WORLD, 6 and 2 on its first three ranks, 5 that do not block on its
 * first two, and 3 on one rank alone. One of the three ranks also makes two wrong calls. Knows nothing of Circoll. */
#include <mpi.h>
#include <stdio.h>

static int wrong;

static void sum_up(MPI_Comm comm, int times) {
  int i, rank, size, sum;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (i = 0; i < times; ++i) {
    const int mine = rank + i;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong += sum != size * (size - 1) / 2 + size * i;
  }
}

int main(int argc, char** argv) {
  int rank, i, sum;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sum_up(MPI_COMM_WORLD, 3);
  sum_up(MPI_COMM_SELF, 3);
  MPI_Comm_split(MPI_COMM_WORLD, rank < 3 ? 0 : MPI_UNDEFINED, rank, &comm);
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (i = 0; rank == 1 && i < 2; ++i)
      wrong += MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_OP_NULL, comm) == MPI_SUCCESS;
    sum_up(comm, 6);
    for (i = 0; i < 2; ++i) MPI_Bcast(&sum, 1, MPI_INT, i, comm);
    MPI_Comm_free(&comm);
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &comm);
  if (comm != MPI_COMM_NULL) {
    for (i = 0; i < 5; ++i) {
      MPI_Request request;
      MPI_Iallreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      wrong += sum != 2 * i;
    }
    MPI_Comm_free(&comm);
  }
  if (wrong > 0) printf("rank %d: %d wrong results\n", rank, wrong);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("done");
  MPI_Finalize();
  return 0;
}
