/* Sums of doubles and of ints. Knows nothing of Circoll. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  double x[100], y[100];
  int a[100], b[100], i, rank, size, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < 100; ++i) x[i] = i, a[i] = i;
  MPI_Allreduce(x, y, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(a, b, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (i = 0; i < 100; ++i) wrong += y[i] != size * i || b[i] != size * i;
  if (wrong > 0) printf("rank %d: %d wrong results\n", rank, wrong);
  MPI_Finalize();
  return wrong > 0;
}
