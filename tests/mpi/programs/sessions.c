/* sessions only|before|beside TIMES: a program of sessions. With `only` it never calls MPI_Init, and begins and ends
 * its sessions TIMES times, one after the other. With `before` a session and its communicator come before MPI_Init, and
 * with `beside` after it. Every communicator serves blocking, nonblocking and persistent collectives. Prints the
 * results of rank 0, and ends with 1 if a result is wrong. Knows nothing of Circoll. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000 };
static int failed;

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  failed = 1;
}

static MPI_Comm from_set(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group;
  MPI_Comm comm = MPI_COMM_NULL;
  expect(MPI_Group_from_session_pset(session, set, &group) == MPI_SUCCESS, set);
  expect(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm) == MPI_SUCCESS, tag);
  MPI_Group_free(&group);
  return comm;
}

/* Collectives of COUNT numbers in three ways. Persistent ones of MPICH hang if they are native. */
static void use(MPI_Comm comm, const char* what, int persistent) {
  int rank, size, in[COUNT], out[COUNT], root[COUNT];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Request requests[3];
  for (int round = 0; round < 3; ++round) {
    const int sum = size * round + size * (size - 1) / 2;
    for (int i = 0; i < COUNT; ++i) in[i] = rank + round;
    for (int i = 0; i < COUNT; ++i) root[i] = rank == size - 1 ? 7 + round : -1;
    memset(out, 0, sizeof out);
    MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, comm);
    MPI_Bcast(root, COUNT, MPI_INT, size - 1, comm);
    expect(out[0] == sum && out[COUNT - 1] == sum && root[COUNT - 1] == 7 + round, what);
    for (int i = 0; i < COUNT; ++i) root[i] = rank == 0 ? 9 + round : -1;
    memset(out, 0, sizeof out);
    MPI_Iallreduce(in, out, COUNT, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Ibcast(root, COUNT, MPI_INT, 0, comm, &requests[1]);
    MPI_Ibarrier(comm, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    expect(out[0] == sum && out[COUNT - 1] == sum && root[COUNT - 1] == 9 + round, what);
  }
  if (rank == 0) printf("%s: %d ranks, %d\n", what, size, out[COUNT - 1]);
  if (!persistent) return;
  MPI_Allreduce_init(in, out, COUNT, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
  for (int round = 0; round < 3; ++round) {
    memset(out, 0, sizeof out);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    expect(out[COUNT - 1] == size * 2 + size * (size - 1) / 2, what);
  }
  MPI_Request_free(&requests[0]);
}

static void use_communicators_of(MPI_Comm comm) {
  int rank;
  MPI_Comm copy, half;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_split(comm, rank % 2, rank, &half);
  use(copy, "copy", 1);
  use(half, "half", 1);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int only = !strcmp(argv[1], "only"), before = !strcmp(argv[1], "before");
  if (!only && !before) MPI_Init(NULL, NULL);
  for (int time = 0; time < atoi(argv[2]); ++time) {
    MPI_Session first, second;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first);
    MPI_Comm alone = from_set(first, "mpi://SELF", "alone");
    use(alone, "alone", 0);
    MPI_Comm all = from_set(first, "mpi://WORLD", "all");
    if (before) MPI_Init(NULL, NULL);
    use(all, "all", 1);
    use_communicators_of(all);
    /* Another session, which outlives the first one. */
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
    MPI_Comm again = from_set(second, "mpi://WORLD", "again");
    MPI_Comm_free(&alone);
    MPI_Comm_free(&all);
    MPI_Session_finalize(&first);
    use(again, "again", 1);
    if (!only) use(MPI_COMM_WORLD, "MPI_COMM_WORLD", 1);
    MPI_Comm_free(&again);
    if (before) MPI_Finalize();
    MPI_Session_finalize(&second);
  }
  if (!only && !before) MPI_Finalize();
  return failed;
}
