/* Many communicators at a time, and one after another, all of them used, and some of them first by a nonblocking
 * collective. Knows nothing of Circoll: its output must be the same with and without the drop-in. MPICH has 2048
 * communicators, of which a program can make 2046. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { at_a_time = 2040, in_turn = 300 };

static MPI_Comm comms[at_a_time];

int main(int argc, char** argv) {
  int rank, size, i, sum, wrong = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < at_a_time; ++i) {
    MPI_Comm_dup(i % 2 == 0 ? MPI_COMM_WORLD : comms[i / 2], &comms[i]);
    if (i % 3 == 0) {
      MPI_Iallreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[i], &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
    }
    wrong += sum != size * i;
  }
  for (i = 0; i < at_a_time; ++i) {
    const int at = i * 7 % at_a_time; /* in another order */
    MPI_Allreduce(&at, &sum, 1, MPI_INT, MPI_SUM, comms[at]);
    wrong += sum != size * at;
    MPI_Comm_free(&comms[at]);
  }
  for (i = 0; i < in_turn; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 == 0 ? rank : -rank, &comms[0]);
    MPI_Scan(&size, &sum, 1, MPI_INT, MPI_SUM, comms[0]);
    wrong += sum != size * (i % 2 == 0 ? rank + 1 : size - rank);
    MPI_Comm_free(&comms[0]);
  }
  if (wrong > 0) printf("rank %d: %d wrong results\n", rank, wrong);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("done");
  MPI_Finalize();
  return 0;
}
