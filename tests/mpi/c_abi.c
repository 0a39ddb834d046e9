/* The C ABI from C99. Called by api_test.cpp. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#include "circoll/circoll.h"

/* Returns 0, or the number of the check that failed. */
int circoll_test_c_abi(void);
/* The same for wrong calls: returns the line of the check that failed. */
int circoll_test_c_errors(void);

/* The same with a datatype for each block, and displacements in bytes. */
static int each_rank_to_each(int size, const int* sent, int* gathered, const int64_t* counts, const int64_t* displs) {
  static const char* const choices[] = {NULL, "native", "pairwise"};
  MPI_Datatype* const types = malloc((size_t)size * sizeof *types);
  int64_t* const bytes = malloc((size_t)size * sizeof *bytes);
  int i, k, failed = 0;
  for (i = 0; i < size; ++i) {
    types[i] = MPI_INT;
    bytes[i] = displs[i] * (int64_t)sizeof *sent;
  }
  for (i = 0; i < 3 && failed == 0; ++i) {
    for (k = 0; k < size; ++k) gathered[k] = -1;
    if (circoll_mpi_alltoallw(sent, counts, bytes, types, gathered, counts, bytes, types, MPI_COMM_WORLD, choices[i]) !=
        CIRCOLL_OK) {
      failed = 40 + i;
    }
    for (k = 0; k < size && failed == 0; ++k) {
      if (gathered[size - 1 - k] != k) failed = 50 + i;
    }
  }
  free(bytes);
  free(types);
  return failed;
}

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
  /* The numbers cancel among the ranks, but for one of each rank. */
  {
    const double numbers[3] = {rank % 2 == 0 ? 1e300 : -1e300, 1.0, size % 2 != 0 && rank == size - 1 ? -1e300 : 0.0};
    const double weights[3] = {1e-200, 3.0, 1e-200};
    const double* const arrays[2] = {numbers, numbers};
    const double* const factors[2] = {NULL, weights};
    const int64_t three[2] = {3, 3};
    double sum = 0, sums[2] = {0, 0};
    if (failed == 0 && circoll_mpi_exact_sum(numbers, 3, &sum, MPI_COMM_WORLD, NULL) != CIRCOLL_OK) failed = 31;
    if (failed == 0 && sum != size) failed = 32;
    if (failed == 0 && circoll_mpi_exact_sums(2, arrays, factors, three, sums, MPI_COMM_WORLD, "auto") != CIRCOLL_OK)
      failed = 33;
    if (failed == 0 && (sums[0] != size || sums[1] != 3.0 * size)) failed = 34;
    if (failed == 0 && circoll_mpi_exact_sum(NULL, 3, &sum, MPI_COMM_WORLD, NULL) != CIRCOLL_INVALID_ARGUMENT)
      failed = 35;
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
  if (failed == 0) failed = each_rank_to_each(size, sent, gathered, counts, displs);
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

/* True if a call fails with the code, and circoll_last_error() has these words. */
static int fails_with(int code, const char* words, int rc) {
  return rc == code && strstr(circoll_last_error(), words) != NULL;
}
#define FAILS(code, words, call) \
  if (!fails_with(code, words, call)) return __LINE__
#define WRONG(words, call) FAILS(CIRCOLL_INVALID_ARGUMENT, words, call)

/* The second one of two arrays of counts has a negative count. On `self` every rank is the root. */
static int wrong_reductions(MPI_Comm comm, int size, int64_t** counts, int* in, int* out, const char* choice) {
  WRONG("negative", circoll_mpi_allreduce(in, out, -1, MPI_INT, MPI_SUM, comm, choice));
  WRONG("MPI_DATATYPE_NULL", circoll_mpi_allreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm, choice));
  WRONG("MPI_OP_NULL", circoll_mpi_allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm, choice));
  WRONG("MPI_COMM_NULL", circoll_mpi_allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL, choice));
  WRONG("NULL", circoll_mpi_allreduce(NULL, out, 1, MPI_INT, MPI_SUM, comm, choice));
  WRONG("MPI_IN_PLACE", circoll_mpi_allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm, choice));
  WRONG("root is -1", circoll_mpi_reduce(in, out, 1, MPI_INT, MPI_SUM, -1, comm, choice));
  WRONG("root is ", circoll_mpi_reduce(in, out, 1, MPI_INT, MPI_SUM, size, comm, choice));
  WRONG("count is -7", circoll_mpi_reduce(in, out, -7, MPI_INT, MPI_SUM, 0, comm, choice));
  WRONG("MPI_OP_NULL", circoll_mpi_reduce(in, out, 1, MPI_INT, MPI_OP_NULL, 0, comm, choice));
  WRONG("negative", circoll_mpi_reduce_scatter_block(in, out, -1, MPI_INT, MPI_SUM, comm, choice));
  WRONG("MPI_COMM_NULL", circoll_mpi_reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL, choice));
  WRONG("counts are NULL", circoll_mpi_reduce_scatter(in, out, NULL, MPI_INT, MPI_SUM, comm, choice));
  WRONG("rank 0 is -1", circoll_mpi_reduce_scatter(in, out, counts[1], MPI_INT, MPI_SUM, comm, choice));
  WRONG("MPI_OP_NULL", circoll_mpi_reduce_scatter(in, out, counts[0], MPI_INT, MPI_OP_NULL, comm, choice));
  WRONG("negative", circoll_mpi_scan(in, out, -1, MPI_INT, MPI_SUM, comm, choice));
  WRONG("MPI_DATATYPE_NULL", circoll_mpi_scan(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm, choice));
  WRONG("negative", circoll_mpi_exscan(in, out, -1, MPI_INT, MPI_SUM, comm, choice));
  WRONG("MPI_OP_NULL", circoll_mpi_exscan(in, out, 1, MPI_INT, MPI_OP_NULL, comm, choice));
  return 0;
}

static int wrong_movements(MPI_Comm comm, MPI_Comm self, int size, int64_t** counts, int* in, int* out,
                           const char* choice) {
  const int64_t *good = counts[0], *bad = counts[1];
  const int64_t one = 1;
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  WRONG("send count is -1", circoll_mpi_allgather(in, -1, MPI_INT, out, 1, MPI_INT, comm, choice));
  WRONG("receive count is -1", circoll_mpi_allgather(in, 1, MPI_INT, out, -1, MPI_INT, comm, choice));
  WRONG("receive datatype", circoll_mpi_allgather(in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, comm, choice));
  WRONG("counts are NULL", circoll_mpi_allgatherv(in, 1, MPI_INT, out, NULL, good, MPI_INT, comm, choice));
  WRONG("displacements", circoll_mpi_allgatherv(in, 1, MPI_INT, out, good, NULL, MPI_INT, comm, choice));
  WRONG("rank 0 is -1", circoll_mpi_allgatherv(in, 1, MPI_INT, out, bad, good, MPI_INT, comm, choice));
  WRONG("root is -3", circoll_mpi_gather(in, 1, MPI_INT, out, 1, MPI_INT, -3, comm, choice));
  WRONG("root is ", circoll_mpi_gatherv(in, 1, MPI_INT, out, good, good, MPI_INT, size, comm, choice));
  WRONG("send count is -1", circoll_mpi_gather(in, -1, MPI_INT, out, 1, MPI_INT, 0, comm, choice));
  WRONG("counts are NULL", circoll_mpi_gatherv(in, 1, MPI_INT, out, NULL, good, MPI_INT, 0, self, choice));
  WRONG("rank 0 is -1", circoll_mpi_gatherv(in, 1, MPI_INT, out, bad, good, MPI_INT, 0, self, choice));
  WRONG("root is -1", circoll_mpi_scatter(in, 1, MPI_INT, out, 1, MPI_INT, -1, comm, choice));
  WRONG("root is ", circoll_mpi_scatterv(in, good, good, MPI_INT, out, 1, MPI_INT, size, comm, choice));
  WRONG("receive count is -1", circoll_mpi_scatter(in, 1, MPI_INT, out, -1, MPI_INT, 0, self, choice));
  WRONG("counts are NULL", circoll_mpi_scatterv(in, NULL, good, MPI_INT, out, 1, MPI_INT, 0, self, choice));
  WRONG("displacements", circoll_mpi_scatterv(in, good, NULL, MPI_INT, out, 1, MPI_INT, 0, self, choice));
  WRONG("receive count is -1", circoll_mpi_alltoall(in, 1, MPI_INT, out, -1, MPI_INT, comm, choice));
  WRONG("send datatype", circoll_mpi_alltoall(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm, choice));
  WRONG("send counts", circoll_mpi_alltoallv(in, NULL, good, MPI_INT, out, good, good, MPI_INT, comm, choice));
  WRONG("displacements", circoll_mpi_alltoallv(in, good, good, MPI_INT, out, good, NULL, MPI_INT, comm, choice));
  WRONG("rank 0 is -1", circoll_mpi_alltoallv(in, good, good, MPI_INT, out, bad, good, MPI_INT, comm, choice));
  WRONG("send datatypes", circoll_mpi_alltoallw(in, good, good, NULL, out, good, good, &none, comm, choice));
  WRONG("rank 0 is -1", circoll_mpi_alltoallw(in, good, good, &none, out, bad, good, &none, comm, choice));
  WRONG("datatype of rank 0", circoll_mpi_alltoallw(in, &one, good, &none, out, &one, good, &none, self, choice));
  WRONG("count is -1", circoll_mpi_bcast(out, -1, MPI_INT, 0, comm, choice));
  WRONG("root is -1", circoll_mpi_bcast(out, 1, MPI_INT, -1, comm, choice));
  WRONG("MPI_DATATYPE_NULL", circoll_mpi_bcast(out, 1, MPI_DATATYPE_NULL, 0, comm, choice));
  WRONG("NULL", circoll_mpi_bcast(NULL, 1, MPI_INT, 0, comm, choice));
  WRONG("MPI_COMM_NULL", circoll_mpi_barrier(MPI_COMM_NULL, choice));
  return 0;
}

/* Counts and displacements are in one array. All are zero, but in the second array the count of rank 0 is -1. */
static int all_errors(MPI_Comm comm, MPI_Comm self, int size, int64_t** counts, int* in, int* out) {
  static const char* const choices[] = {NULL, "auto", "native", "linear"};
  double x = 1, y = 0;
  int i, failed, sum = 0, class = MPI_SUCCESS;
  MPI_Datatype uncommitted;
  MPI_Errhandler handler;
  PMPI_Type_contiguous(2, MPI_INT, &uncommitted);
  for (i = 0; i < 4; ++i) {
    failed = wrong_reductions(comm, size, counts, in, out, choices[i]);
    if (failed == 0) failed = wrong_movements(comm, self, size, counts, in, out, choices[i]);
    if (failed != 0) return 10000 * i + failed;
    WRONG("not committed", circoll_mpi_bcast(in, 1, uncommitted, 0, comm, choices[i]));
    /* The communicator is as good as before. */
    if (circoll_mpi_allreduce(in, &sum, 1, MPI_INT, MPI_SUM, comm, choices[i]) != CIRCOLL_OK) return __LINE__;
    if (sum != size) return __LINE__;
  }
  PMPI_Type_free(&uncommitted);
  FAILS(CIRCOLL_UNKNOWN_NAME, "nonsense", circoll_mpi_bcast(in, 1, MPI_INT, 0, comm, "nonsense"));
  FAILS(CIRCOLL_UNKNOWN_NAME, "nonsense", circoll_mpi_barrier(comm, "nonsense"));
  /* Errors that only the MPI library finds come back, too, and leave its handler as it was. */
  FAILS(CIRCOLL_UNSUPPORTED, "", circoll_mpi_allreduce(&x, &y, 1, MPI_DOUBLE, MPI_BAND, comm, "linear"));
  for (i = 0; i < 3; ++i) {
    FAILS(CIRCOLL_TRANSPORT, "MPI", circoll_mpi_allreduce(&x, &y, 1, MPI_DOUBLE, MPI_BAND, comm, choices[i]));
    PMPI_Error_class(circoll_last_mpi_error(), &class);
    if (class != MPI_ERR_OP) return __LINE__;
  }
  PMPI_Comm_get_errhandler(comm, &handler);
  if (handler != MPI_ERRORS_ARE_FATAL) return __LINE__;
  PMPI_Errhandler_free(&handler);
  return 0;
}

int circoll_test_c_errors(void) {
  int size = 1, i, failed;
  int64_t* counts[2];
  int *in, *out;
  MPI_Comm comm, self;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  PMPI_Comm_dup(MPI_COMM_SELF, &self);
  PMPI_Comm_set_errhandler(self, MPI_ERRORS_ARE_FATAL);
  PMPI_Comm_size(comm, &size);
  counts[0] = calloc((size_t)size, sizeof *counts[0]);
  counts[1] = calloc((size_t)size, sizeof *counts[1]);
  in = malloc((size_t)size * sizeof *in);
  out = malloc((size_t)size * sizeof *out);
  for (i = 0; i < size; ++i) in[i] = 1;
  counts[1][0] = -1;
  failed = all_errors(comm, self, size, counts, in, out);
  free(counts[0]);
  free(counts[1]);
  free(in);
  free(out);
  PMPI_Comm_free(&comm);
  PMPI_Comm_free(&self);
  return failed;
}
