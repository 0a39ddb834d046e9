/* Allowed and forbidden uses of a collective's request. Knows nothing of Circoll: its output must be the same with and
 * without the drop-in. */
#include <mpi.h>
#include <stdio.h>

static int rank, size, handled;

static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

static int error_class(int rc) {
  int class = MPI_SUCCESS;
  if (rc != MPI_SUCCESS) MPI_Error_class(rc, &class);
  return class;
}

int main(int argc, char** argv) {
  MPI_Request request, several[4];
  MPI_Status status, statuses[4];
  MPI_Errhandler mine;
  MPI_Comm comm;
  int in = 1, out = 0, flag = 0, count = -1, rc, i, sums[3] = {0, 0, 0}, token = -1, other = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
  MPI_Comm_set_errhandler(comm, mine);

  /* A look at the status frees nothing. */
  MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, &request);
  while (flag == 0) MPI_Request_get_status(request, &flag, &status);
  if (request == MPI_REQUEST_NULL) puts("MPI_Request_get_status freed the request");
  MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  if (!flag) puts("a complete request is not complete");
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  MPI_Get_count(&status, MPI_INT, &count);
  if (request != MPI_REQUEST_NULL || flag || out != size) puts("MPI_Wait after MPI_Request_get_status");
  /* Waits on nothing. */
  MPI_Wait(&request, &status);
  MPI_Test(&request, &flag, &status);
  if (!flag) puts("no request is not complete");

  MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, &request);
  handled = 0;
  rc = MPI_Cancel(&request);
  if (rank == 0) {
    /* MPI names no class, and MPICH 5.0.2 forgets the error after the handler (library_faults). */
    printf("MPI_Cancel: refused %d, handler called %d\n", rc != MPI_SUCCESS || handled > 0, handled);
  }
  rc = MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  if (rank == 0) printf("afterwards: %d, cancelled %d, result %d\n", rc, flag, out == size);

  /* The requests are together with messages. An error of one request belongs to that request only. */
  for (i = 0; i < 3; ++i) {
    MPI_Irecv(&token, 1, MPI_INT, (rank + size - 1) % size, i, comm, &several[0]);
    MPI_Iallreduce(&rank, &sums[0], 1, MPI_INT, MPI_SUM, comm, &several[1]);
    MPI_Ibcast(&other, 1, MPI_INT, 0, comm, &several[3]);
    MPI_Isend(&i, 1, MPI_INT, (rank + 1) % size, i, comm, &several[2]);
    rc = MPI_Waitall(4, several, statuses);
    if (rc != MPI_SUCCESS || token != i || sums[0] != size * (size - 1) / 2)
      puts("MPI_Waitall of messages and collectives");
    if (statuses[0].MPI_TAG != i) puts("the status of the message");
  }
  handled = 0;
  {
    int two[2] = {rank, rank}, one = -1, sum = 0;
    MPI_Irecv(&one, 1, MPI_INT, rank, 5, comm, &several[0]); /* too short */
    MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm, &several[1]);
    MPI_Isend(two, 2, MPI_INT, rank, 5, comm, &several[2]);
    rc = MPI_Waitall(3, several, statuses);
    if (rank == 0) {
      printf("MPI_Waitall: class in status %d, truncated %d, collective %d, sum %d, handler called %d\n",
             error_class(rc) == MPI_ERR_IN_STATUS, error_class(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE,
             statuses[1].MPI_ERROR == MPI_SUCCESS || statuses[1].MPI_ERROR == MPI_ERR_PENDING, sum == size, handled);
    }
    for (i = 0; i < 3; ++i) {
      if (several[i] != MPI_REQUEST_NULL) MPI_Wait(&several[i], MPI_STATUS_IGNORE);
    }
  }
  MPI_Comm_free(&comm);
  MPI_Errhandler_free(&mine);
  if (rank == 0) puts("done");
  MPI_Finalize();
  return 0;
}
