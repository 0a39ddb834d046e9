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
  int mine[4], all[4] = {0, 0, 0, 0}, *gathered, failed = 0;
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
  free(counts);
  free(displs);
  free(gathered);
  if (failed == 0 && circoll_mpi_barrier(MPI_COMM_WORLD, NULL) != CIRCOLL_OK) failed = 13;
  return failed;
}
