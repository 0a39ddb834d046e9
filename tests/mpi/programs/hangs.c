/* hangs CASE: after some calls that all ranks make alike, rank 2 of 4 does something else, and the others wait for it.
   circoll hang must find out what (hang_test.py). Amounts are large: no message goes ahead without its receiver. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "persistent.h"

enum { odd = 2, many = 1 << 18 };

static int rank, size;
static double *a, *b;
static volatile double sink;

static void spin(void) {
  for (;;) sink = sink * 0.5 + 1;
}

static int is(const char* name, const char* wanted) { return strcmp(name, wanted) == 0; }

static void receive(void) { MPI_Recv(b, 1, MPI_DOUBLE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

/* The part in which rank 2 differs. */
static int differs(const char* name) {
  const int other = rank == odd;
  MPI_Request request;
  if (is(name, "root_bcast")) {
    MPI_Bcast(a, many, MPI_DOUBLE, other ? 1 : 0, MPI_COMM_WORLD);
  } else if (is(name, "root_reduce")) {
    MPI_Reduce(a, b, many, MPI_DOUBLE, MPI_SUM, other ? odd : 0, MPI_COMM_WORLD);
  } else if (is(name, "root_gather")) {
    MPI_Gather(a, many, MPI_DOUBLE, b, many, MPI_DOUBLE, other ? odd : 0, MPI_COMM_WORLD);
  } else if (is(name, "root_scatter")) {
    MPI_Scatter(a, many, MPI_DOUBLE, b, many, MPI_DOUBLE, other ? odd : 0, MPI_COMM_WORLD);
  } else if (is(name, "count_bcast")) {
    MPI_Bcast(a, other ? many / 2 : many, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else if (is(name, "count_allreduce")) {
    MPI_Allreduce(a, b, other ? many / 2 : many, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else if (is(name, "count_allgather")) {
    MPI_Allgather(a, other ? many / 2 : many, MPI_DOUBLE, b, other ? many / 2 : many, MPI_DOUBLE, MPI_COMM_WORLD);
  } else if (is(name, "count_alltoall")) {
    MPI_Alltoall(a, other ? 8 : many / size, MPI_DOUBLE, b, other ? 8 : many / size, MPI_DOUBLE, MPI_COMM_WORLD);
  } else if (is(name, "type_allreduce")) {
    MPI_Allreduce(a, b, many, other ? MPI_INT : MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else if (is(name, "type_bcast")) {
    MPI_Bcast(a, many, other ? MPI_INT : MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else if (is(name, "type_reduce")) {
    MPI_Reduce(a, b, many, other ? MPI_LONG : MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (other) receive();
  } else if (is(name, "operator_allreduce") || is(name, "operator_scan")) {
    /* The results differ, so that rank 2 takes another way through the program. */
    a[0] = rank;
    if (is(name, "operator_scan")) {
      MPI_Scan(a, b, 1, MPI_DOUBLE, other ? MPI_PROD : MPI_SUM, MPI_COMM_WORLD);
    } else {
      MPI_Allreduce(a, b, 1, MPI_DOUBLE, other ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
    }
    if (other) receive();
  } else if (is(name, "collective")) {
    if (other) {
      MPI_Reduce(a, b, many, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    } else {
      MPI_Allreduce(a, b, many, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  } else if (is(name, "order")) {
    if (other) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allgather(a, many / 4, MPI_DOUBLE, b, many / 4, MPI_DOUBLE, MPI_COMM_WORLD);
  } else if (is(name, "blocking")) {
    if (other) {
      MPI_Iallreduce(a, b, many, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
      receive();
    } else {
      MPI_Allreduce(a, b, many, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  } else if (is(name, "skipped")) {
    if (!other) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(a, b, many, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else {
    return 0;
  }
  return 1;
}

/* Rank 2 does not come to the barrier of the others. */
static int stays_away(const char* name) {
  const int other = rank == odd;
  if (is(name, "early_end")) {
    if (other) return 1;
  } else if (is(name, "asleep")) {
    if (other)
      for (;;) pause();
  } else if (is(name, "endless_loop") || is(name, "endless_allreduce")) {
    if (other) spin();
  } else if (is(name, "receive")) {
    if (other) receive();
  } else if (is(name, "send")) {
    if (other) MPI_Ssend(a, many, MPI_DOUBLE, 0, 99, MPI_COMM_WORLD);
  } else if (is(name, "wait")) {
    MPI_Request request;
    if (other) {
      MPI_Irecv(b, 1, MPI_DOUBLE, 0, 99, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  } else if (is(name, "probe")) {
    if (other) MPI_Probe(0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (is(name, "killed") || is(name, "killed_allreduce")) {
    if (other) raise(SIGKILL);
  } else if (is(name, "stopped") || is(name, "stopped_bcast")) {
    if (other) raise(SIGSTOP);
  } else {
    return 0;
  }
  if (is(name, "endless_allreduce") || is(name, "killed_allreduce")) {
    MPI_Allreduce(a, b, many, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else if (is(name, "stopped_bcast")) {
    MPI_Bcast(a, many, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return 1;
}

/* Several communicators, and calls that do not block. */
static int among_some(const char* name) {
  const int other = rank == odd;
  MPI_Comm first, second, part;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  if (is(name, "two_comms")) {
    MPI_Barrier(other ? second : first);
    MPI_Barrier(other ? first : second);
  } else if (is(name, "two_comms_allreduce")) {
    MPI_Allreduce(a, b, many, MPI_DOUBLE, MPI_SUM, other ? second : first);
    MPI_Allreduce(a, b, many, MPI_DOUBLE, MPI_SUM, other ? first : second);
  } else if (is(name, "sub_receive")) {
    if (other) receive();
    MPI_Barrier(part);
  } else if (is(name, "sub_count")) {
    /* Ranks 0 and 2: neither is the wrong one, so that both are named. */
    if (rank % 2 == 0) MPI_Allreduce(a, b, other ? many / 2 : many, MPI_DOUBLE, MPI_SUM, part);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is(name, "chain")) {
    /* Ranks 1 and 3 wait for rank 0, which waits for rank 2. */
    if (other) spin();
    if (rank == 0) MPI_Barrier(part);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is(name, "nonblocking")) {
    if (other) receive();
    MPI_Iallreduce(a, b, many, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (is(name, "persistent")) {
    PERSISTENT(Bcast)(a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; ++i) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    if (other) spin();
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is(name, "neighbors")) {
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    const int peers[2] = {left, right};
    MPI_Comm ring;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, peers, MPI_UNWEIGHTED, 2, peers, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &ring);
    if (other) spin();
    MPI_Neighbor_allgather(a, many / 4, MPI_DOUBLE, b, many / 4, MPI_DOUBLE, ring);
  } else {
    return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  a = calloc((size_t)many * 8, sizeof *a);
  b = calloc((size_t)many * 8, sizeof *b);
  for (int i = 0; i < 5; ++i) {
    MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(a, 4, MPI_INT, i % size, MPI_COMM_WORLD);
  }
  const char* const name = argc > 1 ? argv[1] : "";
  /* An error on rank 2 ends the job at once, so the others must have come to their calls by then. */
  if (rank == odd && !is(name, "none")) sleep(1);
  if (is(name, "none")) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (!differs(name) && !stays_away(name) && !among_some(name)) {
    fprintf(stderr, "there is no case '%s'\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
  } else if (!is(name, "early_end")) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
