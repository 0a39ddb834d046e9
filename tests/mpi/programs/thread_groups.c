/* MPI_THREAD_MULTIPLE: threads make communicators of different groups at the same time, use them, blocking and not,
 * and free them. Knows nothing of Circoll: its output must be the same with and without the drop-in. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 3, turns = 40 };
static int rank, size;
static int wrong[threads];

/* In every turn a thread has another group: all ranks but one. */
static void* run(void* argument) {
  const int me = (int)(long)argument;
  int turn, i;
  for (turn = 0; turn < turns; ++turn) {
    const int left_out = (turn + me) % size;
    int ranks[64], one = 1, sum = 0, n = 0;
    MPI_Group world, group;
    MPI_Comm comm;
    MPI_Request request;
    for (i = 0; i < size; ++i) {
      if (i != left_out || size == 1) ranks[n++] = i;
    }
    if (rank == left_out && size > 1) continue;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, n, ranks, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, me, &comm);
    if (turn % 2 == 0) {
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    } else {
      MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    wrong[me] += sum != n;
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t pool[threads];
  int provided, i, mine = 0, all = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided != MPI_THREAD_MULTIPLE) {
    if (rank == 0) puts("no MPI_THREAD_MULTIPLE");
    MPI_Finalize();
    return 0;
  }
  for (i = 0; i < threads; ++i) pthread_create(&pool[i], NULL, run, (void*)(long)i);
  for (i = 0; i < threads; ++i) pthread_join(pool[i], NULL);
  for (i = 0; i < threads; ++i) mine += wrong[i];
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d threads, %d turns: %d wrong sums\n", threads, turns, all);
  MPI_Finalize();
  return 0;
}
