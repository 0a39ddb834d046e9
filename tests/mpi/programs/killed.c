/* killed BYTES: after some allreduces the last rank is killed within one of them. The others must learn that their
 * call has failed, and not wait forever. They return errors, and each prints a line. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int count = argc > 1 ? atoi(argv[1]) : 1;
  char* mine = calloc((size_t)count, 1);
  char* sum = calloc((size_t)count, 1);
  int error = MPI_SUCCESS;
  int calls = 0;
  for (; error == MPI_SUCCESS && calls < 1000000; ++calls) {
    if (rank == size - 1 && calls == 100) raise(SIGKILL);
    error = MPI_Allreduce(mine, sum, count, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
  }
  printf("rank %d: %s\n", rank, calls == 101 ? "the call that a rank did not make has failed" : "another call failed");
  fflush(stdout);
  _exit(0); /* MPI_Finalize would wait for the rank that is gone */
}
