/* The C interface over MPI. */
#include <mpi.h>
#include <stdio.h>

#include "circoll/circoll.h"

int main(int argc, char** argv) {
  int size = 0, rank = 0, mine = 0, sum = 0, before = 0, error = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  mine = rank + 1;
  error = circoll_mpi_allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, "circulant_optimal");
  if (error == CIRCOLL_OK) error = circoll_mpi_exscan(&mine, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, NULL);
  if (error != CIRCOLL_OK) fprintf(stderr, "%s\n", circoll_last_error());
  if (rank == 0) printf("p %d sum %d\n", size, sum);
  MPI_Finalize();
  return error == CIRCOLL_OK && sum == size * (size + 1) / 2 && before == rank * (rank + 1) / 2 ? 0 : 1;
}
