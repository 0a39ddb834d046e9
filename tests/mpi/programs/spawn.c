/* Spawned processes, and communicators of them and their parents. Knows nothing of Circoll: its output must be the same
 * with and without the drop-in.
 *   spawn bare    the children have no drop-in, whatever their parents have
 *   spawn alike   the children have the preloaded libraries of their parents */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { children = 2 };

/* Collectives among parents and children. */
static void together(MPI_Comm inter, int child) {
  MPI_Comm merged, half;
  int rank, size, one = 1, sum = 0, i, all[16], root;
  MPI_Comm_rank(inter, &rank);
  root = child ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  i = child ? 0 : 42;
  MPI_Bcast(&i, 1, MPI_INT, root, inter);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
  if (child) sum += 100 * (i == 42);
  MPI_Intercomm_merge(inter, child, &merged);
  MPI_Comm_size(merged, &size);
  MPI_Comm_rank(merged, &rank);
  MPI_Allgather(&sum, 1, MPI_INT, all, 1, MPI_INT, merged);
  if (rank == 0) {
    printf("merged:");
    for (i = 0; i < size; ++i) printf(" %d", all[i]);
    puts("");
  }
  MPI_Comm_split(merged, rank % 2, 0, &half); /* parents and children in both */
  for (i = 0; i < 3; ++i) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    MPI_Bcast(&sum, 1, MPI_INT, 0, half);
    MPI_Barrier(merged);
  }
  MPI_Gather(&sum, 1, MPI_INT, all, 1, MPI_INT, 0, merged);
  if (rank == 0) {
    printf("halves:");
    for (i = 0; i < size; ++i) printf(" %d", all[i]);
    puts("");
    fflush(stdout);
  }
  MPI_Comm_free(&half);
  MPI_Comm_free(&merged);
}

int main(int argc, char** argv) {
  MPI_Comm inter;
  int rank, sum = 0, one = 1, codes[children], i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&inter);
  if (inter != MPI_COMM_NULL) { /* a child */
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != children) printf("a child: sum %d\n", sum);
    together(inter, 1);
    MPI_Comm_disconnect(&inter);
  } else {
    char env[] = "env", preload[4096] = "LD_PRELOAD=";
    char* arguments[] = {preload, argv[0], NULL};
    const char* ours = getenv("LD_PRELOAD");
    if (argc > 1 && strcmp(argv[1], "alike") == 0 && ours != NULL) strncat(preload, ours, sizeof preload - 20);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("parents: %d\n", sum);
    MPI_Comm_spawn(env, arguments, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    for (i = 0; i < children; ++i) {
      if (codes[i] != MPI_SUCCESS) puts("a child was not started");
    }
    together(inter, 0);
    MPI_Comm_disconnect(&inter);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("parents again: %d\n", sum);
  }
  MPI_Finalize();
  return 0;
}
