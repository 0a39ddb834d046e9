/* The C ABI from C99. Called by c_abi_test.cpp. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#include "circoll/circoll.h"

/* Returns 0, or the number of the check that failed. */
int circoll_test_c_abi(void);

int circoll_test_c_abi(void) {
  int rank = 0, size = 1, i;
  int64_t *counts, *displs;
  int mine[4], all[4] = {0, 0, 0, 0}, *gathered, *sent, failed = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (circoll_version()[0] == '\0') return 1;
  if (circoll_algorithm_count() == 0 || circoll_algorithm_id(0) == NULL) return 2;
  if (circoll_algorithm_id(circoll_algorithm_count()) != NULL) return 3;
  if (circoll_check_id(circoll_algorithm_id(0)) != CIRCOLL_OK) return 4;
  if (circoll_check_id("allreduce/nonsense") != CIRCOLL_UNKNOWN_NAME) return 5;
  if (strstr(circoll_last_error(), "nonsense") == NULL) return 6;
  for (i = 0; i < 4; ++i) mine[i] = rank + i;
  if (circoll_mpi_allreduce(mine, all, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, NULL) != CIRCOLL_OK) return 7;
  for (i = 0; i < 4; ++i) {
    if (all[i] != size * (size - 1) / 2 + i * size) return 8;
  }
  if (circoll_mpi_allreduce(mine, all, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, "nonsense") != CIRCOLL_UNKNOWN_NAME)
    return 9;
  counts = malloc((size_t)size * sizeof *counts);
  displs = malloc((size_t)size * sizeof *displs);
  gathered = malloc((size_t)size * sizeof *gathered);
  for (i = 0; i < size; ++i) {
    counts[i] = 1;
    displs[i] = size - 1 - i;
  }
  if (circoll_mpi_allgatherv(mine, 1, MPI_INT, gathered, counts, displs, MPI_INT, MPI_COMM_WORLD, "auto") !=
      CIRCOLL_OK) {
    failed = 10;
  }
  for (i = 0; i < size && failed == 0; ++i) {
    if (gathered[size - 1 - i] != i) failed = 11;
  }
  if (failed == 0 && circoll_mpi_allgatherv(mine, 1, MPI_INT, gathered, counts, displs, MPI_INT, MPI_COMM_WORLD,
                                            "native") != CIRCOLL_OK) {
    failed = 12;
  }
  /* Every rank sends its number to every other one, in reverse order of ranks. */
  sent = malloc((size_t)size * sizeof *sent);
  for (i = 0; i < size; ++i) {
    sent[i] = rank;
    gathered[i] = -1;
  }
  if (failed == 0 && circoll_mpi_alltoallv(sent, counts, displs, MPI_INT, gathered, counts, displs, MPI_INT,
                                           MPI_COMM_WORLD, "bruck") != CIRCOLL_OK) {
    failed = 14;
  }
  for (i = 0; i < size && failed == 0; ++i) {
    if (gathered[size - 1 - i] != i) failed = 15;
  }
  if (failed == 0 && circoll_mpi_alltoall(sent, 1, MPI_INT, gathered, 1, MPI_INT, MPI_COMM_WORLD, NULL) != CIRCOLL_OK) {
    failed = 16;
  }
  for (i = 0; i < size && failed == 0; ++i) {
    if (gathered[i] != i) failed = 17;
  }
  free(sent);
  free(counts);
  free(displs);
  free(gathered);
  if (failed == 0 && circoll_mpi_scan(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, NULL) != CIRCOLL_OK) failed = 18;
  if (failed == 0 && all[0] != rank * (rank + 1) / 2) failed = 19;
  all[0] = -1;
  if (failed == 0 && circoll_mpi_exscan(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, NULL) != CIRCOLL_OK) {
    failed = 20;
  }
  if (failed == 0 && all[0] != (rank == 0 ? -1 : rank * (rank - 1) / 2)) failed = 21;
  if (failed == 0 && circoll_mpi_barrier(MPI_COMM_WORLD, NULL) != CIRCOLL_OK) failed = 13;
  return failed;
}
