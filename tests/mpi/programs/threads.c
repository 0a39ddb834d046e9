/* MPI_THREAD_MULTIPLE: threads with communicators of their own, which they make, use and free while the others do
 * the same. Knows nothing of Circoll: its output must be the same with and without the drop-in. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 3, rounds = 8, most = 16, n = 200 };

struct task {
  MPI_Comm comm;
  int number;
  unsigned long digest;
};

static void take(struct task* task, const void* data, size_t bytes) {
  const unsigned char* p = data;
  size_t i;
  for (i = 0; i < bytes; ++i) task->digest = (task->digest ^ p[i]) * 1099511628211ul;
}

static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  int i;
  (void)type;
  for (i = 0; i + 1 < 2 * *count; i += 2) {
    unsigned *l = (unsigned*)in + i, *r = (unsigned*)inout + i;
    const unsigned a = l[0] * r[0], b = l[0] * r[1] + l[1];
    r[0] = a;
    r[1] = b;
  }
}

static void* work(void* argument) {
  struct task* task = argument;
  int rank, size, i, round, *a, *b, counts[most], displs[most];
  MPI_Datatype pair, spread;
  MPI_Op op;
  MPI_Comm_rank(task->comm, &rank);
  MPI_Comm_size(task->comm, &size);
  a = calloc((size_t)(n * size), sizeof(int));
  b = calloc((size_t)(n * size), sizeof(int));
  /* Every thread has its own types and operators, and describes them while others do the same. */
  MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_vector(n / 2, 1, 2, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  MPI_Op_create(compose, 0, &op);
  for (i = 0; i < size; ++i) {
    counts[i] = n - i;
    displs[i] = i * n;
  }
  for (round = 0; round < rounds; ++round) {
    MPI_Comm own;
    MPI_Comm_dup(task->comm, &own);
    for (i = 0; i < n * size; ++i) a[i] = 1000 * task->number + 31 * rank + i + round;
    MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, own);
    take(task, b, sizeof(int) * n);
    MPI_Allreduce(a, b, n / 2, pair, op, task->comm);
    take(task, b, sizeof(int) * n);
    MPI_Allgatherv(a, counts[rank], MPI_INT, b, counts, displs, MPI_INT, own);
    take(task, b, sizeof(int) * (size_t)(n * size));
    MPI_Alltoall(a, n, MPI_INT, b, n, MPI_INT, task->comm);
    take(task, b, sizeof(int) * (size_t)(n * size));
    MPI_Gatherv(a, counts[rank], MPI_INT, b, counts, displs, MPI_INT, round % size, own);
    take(task, b, sizeof(int) * (size_t)(n * size));
    MPI_Bcast(a, 1, spread, round % size, own);
    take(task, a, sizeof(int) * n);
    MPI_Scan(a, b, n, MPI_INT, MPI_MAX, task->comm);
    take(task, b, sizeof(int) * n);
    MPI_Barrier(own);
    MPI_Comm_free(&own);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&spread);
  MPI_Type_free(&pair);
  free(a);
  free(b);
  return NULL;
}

int main(int argc, char** argv) {
  int provided, rank, i;
  struct task tasks[threads];
  pthread_t ids[threads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (rank == 0) puts("no MPI_THREAD_MULTIPLE");
    MPI_Finalize();
    return 1;
  }
  for (i = 0; i < threads; ++i) {
    tasks[i].number = i;
    tasks[i].digest = 1469598103934665603ul;
    /* Communicators of different groups. */
    MPI_Comm_split(MPI_COMM_WORLD, i == 1 ? rank % 2 : 0, i == 2 ? -rank : rank, &tasks[i].comm);
  }
  for (i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, work, &tasks[i]);
  for (i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  for (i = 0; i < threads; ++i) {
    unsigned long all = 0, mixed = tasks[i].digest * (unsigned long)(2 * rank + 1);
    MPI_Comm_free(&tasks[i].comm);
    MPI_Reduce(&mixed, &all, 1, MPI_UNSIGNED_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("thread %d: %016lx\n", i, all);
  }
  MPI_Finalize();
  return 0;
}
