/* Calls of collectives, with the messages and combinations that they make. The program prints a line for each argument
 * COLLECTIVE:ELEMENTS of doubles, or COLLECTIVE:ELEMENTS:own with an operator of the program. A line has messages/bytes
 * for each rank, as the preloaded counter sees them, and the elements of each call of that operator, which commutes:
 * "allreduce:1000:own 2/16000/1000,1000 ...". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_calls = 64, text_bytes = 512 };
static int lengths[most_calls];
static int calls;

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  double* a = in;
  double* b = inout;
  (void)type;
  if (calls < most_calls) lengths[calls++] = *count;
  for (int i = 0; i < *count; ++i) b[i] += a[i];
}

static void call(const char* name, double* in, double* out, int n, MPI_Op op) {
  if (!strcmp(name, "allreduce")) MPI_Allreduce(in, out, n, MPI_DOUBLE, op, MPI_COMM_WORLD);
  if (!strcmp(name, "reduce")) MPI_Reduce(in, out, n, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
  if (!strcmp(name, "bcast")) MPI_Bcast(in, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (!strcmp(name, "allgather")) MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
  if (!strcmp(name, "alltoall")) MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
  if (!strcmp(name, "barrier")) MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, p;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  void (*sent)(long*);
  *(void**)&sent = dlsym(RTLD_DEFAULT, "circoll_test_sent");
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  for (int k = 1; k < argc; ++k) {
    char name[32] = "", own[8] = "";
    int n = 0;
    if (sscanf(argv[k], "%31[a-z]:%d:%7s", name, &n, own) < 2) MPI_Abort(MPI_COMM_WORLD, 2);
    double* in = calloc((size_t)n * (size_t)p + 1, sizeof *in);
    double* out = calloc((size_t)n * (size_t)p + 1, sizeof *out);
    char text[text_bytes] = "";
    for (int round = 0; round < 2; ++round) { /* the first one connects */
      long before[2] = {0, 0}, after[2] = {0, 0};
      calls = 0;
      MPI_Barrier(MPI_COMM_WORLD);
      if (sent) sent(before);
      call(name, in, out, n, own[0] ? op : MPI_SUM);
      if (sent) sent(after);
      int length = snprintf(text, sizeof text, " %ld/%ld/", after[0] - before[0], after[1] - before[1]);
      for (int i = 0; i < calls && length < text_bytes - 16; ++i)
        length += snprintf(text + length, (size_t)(text_bytes - length), i ? ",%d" : "%d", lengths[i]);
    }
    char* all = calloc((size_t)p, text_bytes);
    MPI_Gather(text, text_bytes, MPI_CHAR, all, text_bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("%s", argv[k]);
      for (int r = 0; r < p; ++r) printf("%s", all + (size_t)r * text_bytes);
      printf("\n");
    }
    free(all);
    free(in);
    free(out);
  }
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
