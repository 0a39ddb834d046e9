/* Begins MPI, sleeps for the seconds of its argument, and ends without MPI_Finalize. Knows nothing of Circoll. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 0);
  return 0;
}
