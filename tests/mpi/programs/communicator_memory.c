/* Memory of communicators, for each communicator that is made and used. The program counts bytes that malloc has given
 * out in this process, and resident memory, and checks that they come back. Knows nothing of Circoll. Fails if memory
 * grows while communicators are made, used and freed by the thousands.
 * usage: communicator_memory [ALIVE [CYCLES]] */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 1000, growth_limit = 64 << 10 };

static MPI_Comm comms[most];

static double allocated(void) {
  const struct mallinfo2 info = mallinfo2();
  return (double)info.uordblks + (double)info.hblkhd;
}

static double resident(void) {
  long pages = 0, resident_pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident_pages) != 2) resident_pages = 0;
  if (file != NULL) fclose(file);
  return (double)resident_pages * 4096;
}

static int use(MPI_Comm comm) {
  double mine[4] = {1, 2, 3, 4}, sum[4];
  int size;
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(mine, sum, 4, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Barrier(comm);
  return sum[3] == 4.0 * size ? 0 : 1;
}

int main(int argc, char** argv) {
  const int alive = argc > 1 ? atoi(argv[1]) : 200;
  const int cycles = argc > 2 ? atoi(argv[2]) : 3000;
  int rank, i, wrong = 0;
  double at[4], resident_at[4], growth;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < alive + cycles / 4; ++i) { /* everything that is there once for all */
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    wrong += use(comms[0]);
    MPI_Comm_free(&comms[0]);
  }
  at[0] = allocated();
  resident_at[0] = resident();
  for (i = 0; i < alive; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  at[1] = allocated();
  resident_at[1] = resident();
  for (i = 0; i < alive; ++i) wrong += use(comms[i]);
  at[2] = allocated();
  resident_at[2] = resident();
  for (i = 0; i < alive; ++i) MPI_Comm_free(&comms[i]);
  at[3] = allocated();
  for (i = 0; i < cycles; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    wrong += use(comms[0]);
    MPI_Comm_free(&comms[0]);
  }
  growth = allocated() - at[3];
  if (rank == 0) {
    printf("bytes per communicator: made %.0f (resident %.0f), used %.0f (resident %.0f)\n", (at[1] - at[0]) / alive,
           (resident_at[1] - resident_at[0]) / alive, (at[2] - at[1]) / alive,
           (resident_at[2] - resident_at[1]) / alive);
  }
  printf("rank %d: %d communicators made, used and freed: %.0f bytes more than before, resident %.0f more\n", rank,
         cycles, growth, resident() - resident_at[2]);
  MPI_Finalize();
  return wrong != 0 || growth > growth_limit;
}
