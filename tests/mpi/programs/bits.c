/* Collectives whose bits depend on the order of additions, or not: usage: bits floats|integers|clock. Knows nothing of
 * Circoll. The first call is a sum of integers always. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { numbers = 60 };

/* Sums of some of these are rounded, whatever the order. */
static double number(int rank, int i) { return 1.0 / (3 + 7 * rank + 11 * i); }

static void add_floats(MPI_Comm comm) {
  double x[numbers], y[numbers];
  int i, rank, size;
  MPI_Request request;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (i = 0; i < numbers; ++i) x[i] = number(rank, i);
  memset(y, 0, sizeof y);
  MPI_Allreduce(x, y, numbers, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Bcast(y, numbers, MPI_DOUBLE, 0, comm);
  MPI_Reduce(x, y, numbers, MPI_DOUBLE, MPI_SUM, size - 1, comm);
  MPI_Scan(x, y, numbers, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Reduce_scatter_block(x, y, numbers / size, MPI_DOUBLE, MPI_SUM, comm);
  memcpy(y, x, sizeof x);
  MPI_Allreduce(MPI_IN_PLACE, y, numbers, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Iallreduce(x, y, numbers, MPI_DOUBLE, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void add_integers(MPI_Comm comm) {
  long x[numbers], y[numbers];
  struct {
    double value;
    int place;
  } most = {0, 0}, all;
  int i, rank, size;
  MPI_Datatype every_other;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (i = 0; i < numbers; ++i) x[i] = rank * 1000 + i;
  memset(y, 0, sizeof y);
  MPI_Allreduce(x, y, numbers, MPI_LONG, MPI_SUM, comm);
  most.value = number(rank, 0);
  most.place = rank;
  MPI_Allreduce(&most, &all, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  /* The gaps of y have other contents in each run; only the elements count. */
  MPI_Type_vector(2, 1, 2, MPI_LONG, &every_other);
  MPI_Type_commit(&every_other);
  for (i = 0; i < numbers; ++i) y[i] = (long)(MPI_Wtime() * 1e9);
  y[0] = rank;
  y[2] = -rank;
  MPI_Gather(y, 1, every_other, x, 2, MPI_LONG, 0, comm);
  MPI_Scatter(x, 2, MPI_LONG, y, 1, every_other, 0, comm);
  for (i = 0; i < numbers; ++i) y[i] = rank;
  MPI_Alltoall(y, numbers / size, MPI_LONG, x, numbers / size, MPI_LONG, comm);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, x, numbers / size, MPI_LONG, comm);
  MPI_Type_free(&every_other);
}

int main(int argc, char** argv) {
  int rank, i;
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 4 == 3, rank, &half); /* the first three, and the rest */
  for (i = 0; i < 3; ++i) {
    add_integers(MPI_COMM_WORLD);
    add_integers(half);
    if (argc > 1 && strcmp(argv[1], "floats") == 0) {
      add_floats(MPI_COMM_WORLD);
      add_floats(half);
    }
  }
  if (argc > 1 && strcmp(argv[1], "clock") == 0) {
    double now = MPI_Wtime();
    MPI_Bcast(&now, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
