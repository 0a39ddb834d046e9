/* A collective whose ranks disagree, which must end with an error at some rank, and on all ranks. The last rank is the
 * one that differs. usage: mismatched CASE; prints a line per rank.
 *   CASE: [i]bcast, [i]gather, [i]scatter, [i]allgather, [i]alltoall, [i]allreduce: the amount differs. With + behind
 *         it, that of the last rank is larger, else smaller.
 *         root, [i]exscan_alias, [i]alltoallw_alias, other, absent, typed, late: see below */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { few = 5, many = 3000, most = 16 * many };
static int in[most], out[most];

static int waited(int rc, MPI_Request* request) {
  return rc == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : rc;
}

#define IS(text) (strcmp(name, text) == 0)

static int call(const char* name, int count, int rank, int size, MPI_Comm comm) {
  MPI_Request request;
  if (IS("bcast")) return MPI_Bcast(in, count, MPI_INT, 0, comm);
  if (IS("ibcast")) return waited(MPI_Ibcast(in, count, MPI_INT, 0, comm, &request), &request);
  if (IS("gather")) return MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, 0, comm);
  if (IS("igather")) return waited(MPI_Igather(in, count, MPI_INT, out, count, MPI_INT, 0, comm, &request), &request);
  if (IS("scatter")) return MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, 0, comm);
  if (IS("iscatter")) return waited(MPI_Iscatter(in, count, MPI_INT, out, count, MPI_INT, 0, comm, &request), &request);
  if (IS("allgather")) return MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm);
  if (IS("iallgather"))
    return waited(MPI_Iallgather(in, count, MPI_INT, out, count, MPI_INT, comm, &request), &request);
  if (IS("alltoall")) return MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm);
  if (IS("ialltoall")) return waited(MPI_Ialltoall(in, count, MPI_INT, out, count, MPI_INT, comm, &request), &request);
  if (IS("allreduce")) return MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
  if (IS("iallreduce")) return waited(MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, comm, &request), &request);
  /* The last rank and the others each take the other for the root. */
  if (IS("root")) return MPI_Bcast(in, many, MPI_INT, rank == size - 1 ? 0 : size - 1, comm);
  if (IS("exscan_alias")) return MPI_Exscan(in, in, few, MPI_INT, MPI_SUM, comm);
  if (IS("iexscan_alias")) return waited(MPI_Iexscan(in, in, few, MPI_INT, MPI_SUM, comm, &request), &request);
  /* The last rank calls another collective, or none. */
  if (IS("other")) return rank == size - 1 ? MPI_Barrier(comm) : MPI_Allreduce(in, out, few, MPI_INT, MPI_SUM, comm);
  if (IS("absent")) return rank == size - 1 ? MPI_SUCCESS : MPI_Barrier(comm);
  /* An alltoallw, which the last rank does not call, or whose arguments of both sides are equal. */
  if (IS("typed") && rank == size - 1) return MPI_SUCCESS;
  if (IS("typed") || IS("alltoallw_alias") || IS("ialltoallw_alias")) {
    static int counts[16], displs[16];
    static MPI_Datatype types[16];
    int i, *to = IS("typed") ? out : in;
    for (i = 0; i < 16; ++i) {
      counts[i] = few;
      displs[i] = i * few * (int)sizeof(int);
      types[i] = MPI_INT;
    }
    if (!IS("ialltoallw_alias")) return MPI_Alltoallw(in, counts, displs, types, to, counts, displs, types, comm);
    return waited(MPI_Ialltoallw(in, counts, displs, types, to, counts, displs, types, comm, &request), &request);
  }
  /* The last rank is late, and everything is right. */
  if (IS("late") && rank == size - 1) sleep(4);
  if (IS("late")) return MPI_Allreduce(in, out, few, MPI_INT, MPI_SUM, comm);
  MPI_Abort(MPI_COMM_WORLD, 2);
  return 0;
}

int main(int argc, char** argv) {
  char name[32] = "", text[MPI_MAX_ERROR_STRING] = "";
  int rank, size, more, rc, length, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  strncpy(name, argc > 1 ? argv[1] : "", sizeof name - 1);
  more = strchr(name, '+') != NULL;
  if (more) *strchr(name, '+') = '\0';
  for (i = 0; i < most; ++i) in[i] = i;
  /* A right call comes first, so that the communicator is in use. */
  MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  rc = call(name, (rank == size - 1) == more ? many : few, rank, size, MPI_COMM_WORLD);
  if (rc != MPI_SUCCESS) MPI_Error_string(rc, text, &length);
  printf("rank %d: %s %s\n", rank, rc == MPI_SUCCESS ? "success" : "error", text);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
