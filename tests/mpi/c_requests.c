/* Nonblocking and persistent calls of the C ABI, from C99. Called by api_test.cpp. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#include "circoll/circoll.h"

/* Return 0, or the line of the check that failed. */
int circoll_test_c_requests(const char* choice, int persistent);
int circoll_test_c_request_errors(void);

#define CHECK(holds) \
  if (!(holds)) return __LINE__

/* Ends a call in all ways that there are: waits for it, and asks for its end. A persistent one is started twice. */
static int finish(circoll_mpi_request* request, int persistent) {
  int ended = 0;
  CHECK(*request != NULL);
  if (persistent) {
    CHECK(circoll_mpi_wait(request) == CIRCOLL_OK); /* it is inactive */
    CHECK(circoll_mpi_start(*request) == CIRCOLL_OK);
    CHECK(circoll_mpi_start(*request) == CIRCOLL_INVALID_ARGUMENT);
    CHECK(circoll_mpi_wait(request) == CIRCOLL_OK && *request != NULL);
    CHECK(circoll_mpi_start(*request) == CIRCOLL_OK);
  }
  while (!ended) CHECK(circoll_mpi_test(request, &ended) == CIRCOLL_OK);
  CHECK((*request != NULL) == persistent);
  CHECK(circoll_mpi_test(request, &ended) == CIRCOLL_OK && ended == 1);
  CHECK(circoll_mpi_request_free(request) == CIRCOLL_OK && *request == NULL);
  return 0;
}

/* Makes a call of either kind, and ends it. */
#define RUN(name, ...)                                                                            \
  do {                                                                                            \
    int line;                                                                                     \
    request = NULL;                                                                               \
    CHECK((persistent ? circoll_mpi_##name##_init(__VA_ARGS__, comm, choice, &request)            \
                      : circoll_mpi_i##name(__VA_ARGS__, comm, choice, &request)) == CIRCOLL_OK); \
    line = finish(&request, persistent);                                                          \
    if (line != 0) return 1000 * __LINE__ + line;                                                 \
  } while (0)

/* An alltoallw. Its arrays are overwritten, and its datatypes freed, as soon as it has begun or been made. */
static int exchange_by_types(MPI_Comm comm, const char* choice, int persistent, const int64_t* displs, const int* in,
                             int* out) {
  int size, i, line, rc;
  MPI_Datatype* types;
  int64_t *counts, *bytes;
  circoll_mpi_request request = NULL;
  PMPI_Comm_size(comm, &size);
  types = malloc((size_t)size * sizeof *types);
  counts = malloc((size_t)size * sizeof *counts);
  bytes = malloc((size_t)size * sizeof *bytes);
  for (i = 0; i < size; ++i) {
    PMPI_Type_contiguous(1, MPI_INT, &types[i]);
    PMPI_Type_commit(&types[i]);
    counts[i] = 1;
    bytes[i] = displs[i] * (int64_t)sizeof *in;
  }
  rc = (persistent ? circoll_mpi_alltoallw_init : circoll_mpi_ialltoallw)(in, counts, bytes, types, out, counts, bytes,
                                                                          types, comm, choice, &request);
  for (i = 0; i < size; ++i) {
    PMPI_Type_free(&types[i]);
    counts[i] = -1;
    bytes[i] = 1 << 30;
  }
  line = rc == CIRCOLL_OK ? finish(&request, persistent) : __LINE__;
  free(types);
  free(counts);
  free(bytes);
  return line;
}

/* Every rank contributes its number. `counts` are ones. */
static int all_calls(MPI_Comm comm, const char* choice, int persistent, int64_t* counts, int64_t* displs, int* in,
                     int* out) {
  int rank, size, i, sum, root, line;
  circoll_mpi_request request = NULL;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  sum = size * (size - 1) / 2;
  root = size - 1;
  for (i = 0; i < size; ++i) {
    in[i] = rank;
    out[i] = -1;
  }
  RUN(allreduce, in, out, 1, MPI_INT, MPI_SUM);
  CHECK(out[0] == sum);
  RUN(reduce, in, out, 1, MPI_INT, MPI_MAX, root);
  CHECK(rank != root || out[0] == size - 1);
  RUN(scan, in, out, 1, MPI_INT, MPI_SUM);
  CHECK(out[0] == rank * (rank + 1) / 2);
  RUN(exscan, in, out, 1, MPI_INT, MPI_SUM);
  CHECK(rank == 0 || out[0] == rank * (rank - 1) / 2);
  RUN(reduce_scatter_block, in, out, 1, MPI_INT, MPI_SUM);
  CHECK(out[0] == sum);
  out[0] = -1;
  RUN(reduce_scatter, in, out, counts, MPI_INT, MPI_SUM);
  CHECK(out[0] == sum);
  RUN(allgather, in, 1, MPI_INT, out, 1, MPI_INT);
  for (i = 0; i < size; ++i) CHECK(out[i] == i);
  for (i = 0; i < size; ++i) out[i] = -1;
  RUN(allgatherv, in, 1, MPI_INT, out, counts, displs, MPI_INT);
  for (i = 0; i < size; ++i) CHECK(out[size - 1 - i] == i);
  RUN(alltoall, in, 1, MPI_INT, out, 1, MPI_INT);
  for (i = 0; i < size; ++i) CHECK(out[i] == i);
  RUN(alltoallv, in, counts, displs, MPI_INT, out, counts, displs, MPI_INT);
  for (i = 0; i < size; ++i) CHECK(out[size - 1 - i] == i);
  for (i = 0; i < size; ++i) out[i] = -1;
  line = exchange_by_types(comm, choice, persistent, displs, in, out);
  if (line != 0) return 1000 * __LINE__ + line;
  for (i = 0; i < size; ++i) CHECK(out[size - 1 - i] == i);
  RUN(gather, in, 1, MPI_INT, out, 1, MPI_INT, root);
  for (i = 0; i < size && rank == root; ++i) CHECK(out[i] == i);
  RUN(gatherv, in, 1, MPI_INT, out, counts, displs, MPI_INT, root);
  for (i = 0; i < size && rank == root; ++i) CHECK(out[size - 1 - i] == i);
  for (i = 0; i < size; ++i) in[i] = rank == root ? i : -1;
  RUN(scatter, in, 1, MPI_INT, out, 1, MPI_INT, root);
  CHECK(out[0] == rank);
  RUN(scatterv, in, counts, displs, MPI_INT, out, 1, MPI_INT, root);
  CHECK(out[0] == size - 1 - rank);
  out[0] = rank == root ? 42 : 0;
  RUN(bcast, out, 1, MPI_INT, root);
  CHECK(out[0] == 42);
  CHECK((persistent ? circoll_mpi_barrier_init(comm, choice, &request)
                    : circoll_mpi_ibarrier(comm, choice, &request)) == CIRCOLL_OK);
  line = finish(&request, persistent);
  return line == 0 ? 0 : 1000 * __LINE__ + line;
}

int circoll_test_c_requests(const char* choice, int persistent) {
  int size, i, failed;
  int64_t *counts, *displs;
  int *in, *out;
  MPI_Comm comm;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  PMPI_Comm_size(comm, &size);
  counts = malloc((size_t)size * sizeof *counts);
  displs = malloc((size_t)size * sizeof *displs);
  in = malloc((size_t)size * sizeof *in);
  out = malloc((size_t)size * sizeof *out);
  for (i = 0; i < size; ++i) {
    counts[i] = 1;
    displs[i] = size - 1 - i;
  }
  failed = all_calls(comm, choice, persistent, counts, displs, in, out);
  free(counts);
  free(displs);
  free(in);
  free(out);
  MPI_Comm_free(&comm);
  return failed;
}

/* Several calls are under way, their arrays are overwritten at once, and a blocking call comes between. */
static int many_calls(MPI_Comm comm, int rank, int size) {
  enum { calls = 10 };
  circoll_mpi_request requests[calls];
  int64_t* counts = malloc((size_t)size * sizeof *counts);
  int64_t* displs = malloc((size_t)size * sizeof *displs);
  int* out = malloc((size_t)size * calls * sizeof *out);
  int i, k, sum = 0, failed = 0;
  for (k = 0; k < calls; ++k) {
    for (i = 0; i < size; ++i) {
      counts[i] = 1;
      displs[i] = i;
    }
    if (circoll_mpi_iallgatherv(&rank, 1, MPI_INT, out + k * size, counts, displs, MPI_INT, comm,
                                k % 2 == 0 ? NULL : "native", &requests[k]) != CIRCOLL_OK)
      failed = __LINE__;
    memset(counts, 0xff, (size_t)size * sizeof *counts);
    memset(displs, 0xff, (size_t)size * sizeof *displs);
  }
  if (circoll_mpi_allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, NULL) != CIRCOLL_OK) failed = __LINE__;
  for (k = calls; k-- > 0;) {
    if (circoll_mpi_wait(&requests[k]) != CIRCOLL_OK || requests[k] != NULL) failed = __LINE__;
    for (i = 0; i < size; ++i) {
      if (out[k * size + i] != i) failed = __LINE__;
    }
  }
  if (sum != size * (size - 1) / 2) failed = __LINE__;
  free(counts);
  free(displs);
  free(out);
  return failed;
}

/* True if a call fails with the code, and circoll_last_error() has these words. */
static int fails(int code, const char* words, int rc) {
  return rc == code && strstr(circoll_last_error(), words) != NULL;
}

static int all_errors(MPI_Comm comm, int rank, int size) {
  const int wrong = CIRCOLL_INVALID_ARGUMENT;
  circoll_mpi_request request = NULL;
  int x = 1, y = 0, ended = 0, rc, failed;
  double real = 1, sum = 0;
  CHECK(fails(wrong, "NULL", circoll_mpi_wait(NULL)));
  CHECK(fails(wrong, "NULL", circoll_mpi_test(&request, NULL)));
  CHECK(fails(wrong, "NULL", circoll_mpi_start(NULL)));
  CHECK(fails(wrong, "NULL", circoll_mpi_request_free(NULL)));
  CHECK(fails(wrong, "NULL", circoll_mpi_ibarrier(comm, NULL, NULL)));
  CHECK(circoll_mpi_wait(&request) == CIRCOLL_OK && circoll_mpi_request_free(&request) == CIRCOLL_OK);
  CHECK(circoll_mpi_test(&request, &ended) == CIRCOLL_OK && ended == 1);
  CHECK(fails(wrong, "negative", circoll_mpi_iallreduce(&x, &y, -1, MPI_INT, MPI_SUM, comm, NULL, &request)));
  CHECK(request == NULL);
  CHECK(fails(wrong, "root is ", circoll_mpi_bcast_init(&x, 1, MPI_INT, size, comm, NULL, &request)));
  CHECK(fails(wrong, "MPI_COMM_NULL", circoll_mpi_ibarrier(MPI_COMM_NULL, NULL, &request)));
  CHECK(fails(wrong, "counts are NULL",
              circoll_mpi_iallgatherv(&x, 1, MPI_INT, &y, NULL, NULL, MPI_INT, comm, "native", &request)));
  CHECK(fails(CIRCOLL_UNKNOWN_NAME, "nonsense", circoll_mpi_ibarrier(comm, "nonsense", &request)));
  /* The library's own error comes from the call that begins, or from its end. */
  rc = circoll_mpi_iallreduce(&real, &sum, 1, MPI_DOUBLE, MPI_BAND, comm, "native", &request);
  if (rc == CIRCOLL_OK) rc = circoll_mpi_wait(&request);
  CHECK(fails(CIRCOLL_TRANSPORT, "MPI", rc) && request == NULL && circoll_last_mpi_error() != MPI_SUCCESS);
  /* A nonblocking request cannot be started, and freeing it waits for it. */
  CHECK(circoll_mpi_iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm, NULL, &request) == CIRCOLL_OK);
  CHECK(fails(wrong, "persistent", circoll_mpi_start(request)));
  CHECK(circoll_mpi_request_free(&request) == CIRCOLL_OK && request == NULL && y == size);
  failed = many_calls(comm, rank, size);
  return failed;
}

int circoll_test_c_request_errors(void) {
  int rank, size, failed;
  MPI_Comm comm;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  failed = all_errors(comm, rank, size);
  MPI_Comm_free(&comm);
  return failed;
}
