/* Collective calls that do not match among the ranks, in many ways. Knows nothing of Circoll.
 *   mismatches CASE         under MPI_ERRORS_ARE_FATAL
 *   mismatches CASE return  prints the error that the call returns, or that the error handler gets, at each rank
 * Rank 1 makes the odd call, the others the ordinary one. For four ranks. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "persistent.h"

static int rank, size;
static const char* which;
static MPI_Comm comm;
static MPI_Request request = MPI_REQUEST_NULL;
static volatile int handled; /* the error that the handler got */
static int a[64], b[64], c[64];

static int is(const char* name) { return strcmp(which, name) == 0; }

static void handler(MPI_Comm* on, int* code, ...) {
  (void)on;
  handled = *code;
}

static void doze(int seconds) {
  struct timespec time = {0, 0};
  time.tv_sec = seconds;
  nanosleep(&time, NULL);
}

int ordinary(void);
int odd(void);
int exchange(int more);
int exchange_typed(int to, int more);
int collect(int count);
int share(int count);
int halo(int more);

/* All ranks exchange data, and rank 1 sends one element more to rank 2 if `more` is set. */
__attribute__((noinline)) int exchange(int more) {
  int counts[4], got[4], displs[4], i;
  for (i = 0; i < 4; ++i) {
    counts[i] = got[i] = 1 + (i + rank) % 3;
    displs[i] = 8 * i;
  }
  counts[2] += more;
  return MPI_Alltoallv(a, counts, displs, MPI_INT, b, got, displs, MPI_INT, comm);
}

/* The same with a datatype for each block, and `more` for rank `to`. */
__attribute__((noinline)) int exchange_typed(int to, int more) {
  MPI_Datatype types[4] = {MPI_INT, MPI_FLOAT, MPI_INT, MPI_FLOAT}, got_types[4];
  int counts[4], got[4], displs[4], i;
  for (i = 0; i < 4; ++i) {
    counts[i] = got[i] = 1 + (i + rank) % 3;
    displs[i] = 32 * i;
    got_types[i] = types[rank];
  }
  counts[to] += more;
  return MPI_Alltoallw(a, counts, displs, types, b, got, displs, got_types, comm);
}

__attribute__((noinline)) int collect(int count) {
  const int counts[4] = {2, 3, 2, 2}, displs[4] = {0, 8, 16, 24};
  return MPI_Gatherv(a, count, MPI_INT, b, counts, displs, MPI_INT, 2, comm);
}

__attribute__((noinline)) int share(int count) {
  const int displs[4] = {0, 8, 16, 24};
  int counts[4] = {2, 2, 2, 2};
  counts[3] = count;
  return MPI_Allgatherv(a, rank == 3 ? count : 2, MPI_INT, b, counts, displs, MPI_INT, comm);
}

/* The ranks of a ring exchange blocks with both neighbours. `more` elements more go upwards. Where both edges lead to
   the next rank, the second one has two elements, and `more` lets the sender swap them. */
__attribute__((noinline)) int halo(int more) {
  const int two = is("double_edges"), displs[2] = {0, 8}, got[2] = {1, 1 + two};
  int counts[2] = {1, 1 + more};
  if (two) counts[more] = 1;
  if (two) counts[1 - more] = 2;
  return MPI_Neighbor_alltoallv(a, counts, displs, MPI_INT, b, got, displs, MPI_INT, comm);
}

__attribute__((noinline)) int ordinary(void) {
  int rc = MPI_SUCCESS;
  if (is("neighbors") || is("double_edges")) rc = halo(0);
  if (is("collective") || is("bytes") || is("root") || is("mode")) rc = MPI_Bcast(a, 10, MPI_INT, 0, comm);
  if (is("operator") || is("type") || is("user_operator")) rc = MPI_Allreduce(a, b, 2, MPI_INT, MPI_SUM, comm);
  if (is("gatherv")) rc = collect(rank == 1 ? 3 : 2);
  if (is("allgatherv")) rc = share(2);
  if (is("alltoallv")) rc = exchange(0);
  if (is("alltoallw")) rc = exchange_typed(2, 0);
  if (is("own_typed")) rc = exchange_typed(1, 0);
  if (is("own_block")) rc = MPI_Allgather(a, 2, MPI_INT, b, 2, MPI_INT, comm);
  if (is("finalize") || is("alone")) rc = MPI_Barrier(comm);
  if (is("nonblocking")) rc = MPI_Ibcast(a, 1, MPI_INT, 0, comm, &request);
  if (is("persistent")) rc = PERSISTENT(Bcast)(a, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
  if (is("order")) {
    rc = MPI_Barrier(comm);
    if (rc == MPI_SUCCESS) rc = MPI_Bcast(a, 1, MPI_INT, 3, comm);
  }
  return rc + 0 * a[0];
}

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  int i;
  (void)type;
  for (i = 0; i < *n; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

__attribute__((noinline)) int odd(void) {
  int rc = MPI_SUCCESS;
  if (is("neighbors") || is("double_edges")) rc = halo(1);
  if (is("collective")) rc = MPI_Reduce(a, b, 10, MPI_INT, MPI_MAX, 0, comm);
  if (is("bytes")) rc = MPI_Bcast(a, 5, MPI_INT, 0, comm);
  if (is("root")) rc = MPI_Bcast(a, 10, MPI_INT, 1, comm);
  if (is("mode")) rc = MPI_Ibcast(a, 10, MPI_INT, 0, comm, &request);
  if (is("operator")) rc = MPI_Allreduce(a, b, 2, MPI_INT, MPI_MAX, comm);
  if (is("type")) rc = MPI_Allreduce(a, b, 2, MPI_FLOAT, MPI_SUM, comm);
  if (is("gatherv")) rc = collect(4);
  if (is("allgatherv")) rc = share(3);
  if (is("alltoallv")) rc = exchange(1);
  if (is("alltoallw")) rc = exchange_typed(2, 1);
  if (is("own_typed")) rc = exchange_typed(1, 1);
  if (is("own_block")) rc = MPI_Allgather(a, 1, MPI_INT, b, 2, MPI_INT, comm);
  if (is("nonblocking")) rc = MPI_Ibarrier(comm, &request);
  if (is("persistent")) rc = PERSISTENT(Bcast)(a, 1, MPI_INT, 2, comm, MPI_INFO_NULL, &request);
  if (is("order")) {
    rc = MPI_Bcast(a, 1, MPI_INT, 3, comm);
    if (rc == MPI_SUCCESS) rc = MPI_Barrier(comm);
  }
  if (is("user_operator")) {
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    rc = MPI_Allreduce(a, b, 2, MPI_INT, op, comm);
    MPI_Op_free(&op);
  }
  if (is("alone")) {
    doze(12);
    rc = MPI_Barrier(comm);
  }
  return rc + 0 * c[0];
}

/* Prints the lines of all ranks in order. No rank goes on before all lines are printed. */
static void tell(char* text) {
  int i;
  if (rank != 0) {
    MPI_Send(text, MPI_MAX_ERROR_STRING, MPI_CHAR, 0, 1, comm);
    MPI_Recv(NULL, 0, MPI_CHAR, 0, 2, comm, MPI_STATUS_IGNORE);
    return;
  }
  printf("rank 0: %s\n", text);
  for (i = 1; i < size; ++i) {
    if (i == 1 && is("finalize")) continue;
    MPI_Recv(text, MPI_MAX_ERROR_STRING, MPI_CHAR, i, 1, comm, MPI_STATUS_IGNORE);
    printf("rank %d: %s\n", i, text);
  }
  fflush(stdout);
  for (i = 1; i < size; ++i) {
    if (i == 1 && is("finalize")) continue;
    MPI_Send(NULL, 0, MPI_CHAR, i, 2, comm);
  }
}

int main(int argc, char** argv) {
  MPI_Errhandler mine;
  char text[MPI_MAX_ERROR_STRING] = "success";
  int rc = MPI_SUCCESS, length = 0, flag = 0, returns, sub = 0, delayed = 0, periodic = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 2 || size != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  which = argv[1];
  sub = strncmp(which, "sub_", 4) == 0;
  if (sub) which += 4;
  returns = argc > 2 && strcmp(argv[2], "return") == 0;
  delayed = is("nonblocking") || is("persistent") || is("mode");
  comm = MPI_COMM_WORLD;
  if (sub) {
    /* The ranks are in reverse order: rank 1 is rank 2 of the world. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    MPI_Comm_set_name(comm, "backwards");
    MPI_Comm_rank(comm, &rank);
  }
  if (is("neighbors")) {
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
    MPI_Comm_set_name(comm, "ring");
  }
  if (is("double_edges")) {
    const int below[2] = {(rank + size - 1) % size, (rank + size - 1) % size},
              above[2] = {(rank + 1) % size, (rank + 1) % size};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, below, MPI_UNWEIGHTED, 2, above, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &comm);
    MPI_Comm_set_name(comm, "ring");
  }
  if (returns && delayed) {
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(comm, mine);
    MPI_Errhandler_free(&mine);
  } else if (returns) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  MPI_Barrier(comm);
  MPI_Bcast(a, 1, MPI_INT, 0, comm);
  if (rank == 1 && is("finalize")) {
    MPI_Finalize();
    return 0;
  }
  rc = rank == 1 ? odd() : ordinary();
  while (delayed && !handled && rc == MPI_SUCCESS) {
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  if (delayed && rc == MPI_SUCCESS) rc = handled;
  if (rc != MPI_SUCCESS) MPI_Error_string(rc, text, &length);
  tell(text);
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  if (request != MPI_REQUEST_NULL) {
    doze(1);  /* launchers lose what was written just before a rank goes like this */
    _Exit(0); /* it will never be complete */
  }
  MPI_Finalize();
  return 0;
}
