/* The time of MPI_Allreduce of doubles by MPI_SUM: for lab/experiments/sums/run only.
 *
 * summed_calls CALLS: for each size CALLS calls, each after a barrier. Rank 0 prints the bytes of the vector, and the
 * median over the calls of the microseconds of the slowest rank.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

int main(int argc, char** argv) {
  static const int sizes[] = {1, 16, 128, 1024, 16384, 131072};
  const int calls = argc > 1 ? atoi(argv[1]) : 200;
  int rank, i, s;
  double *in, *out, *times;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  in = malloc(sizeof(double) * 131072);
  out = malloc(sizeof(double) * 131072);
  times = malloc(sizeof(double) * (size_t)calls);
  for (i = 0; i < 131072; ++i) in[i] = (rank + 1) / (i + 3.0) - 0.25;
  for (s = 0; s < (int)(sizeof sizes / sizeof *sizes); ++s) {
    for (i = -10; i < calls; ++i) { /* ten calls to begin with */
      double begin, mine;
      MPI_Barrier(MPI_COMM_WORLD);
      begin = MPI_Wtime();
      MPI_Allreduce(in, out, sizes[s], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      mine = MPI_Wtime() - begin;
      MPI_Reduce(&mine, &times[i < 0 ? 0 : i], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    }
    qsort(times, (size_t)calls, sizeof *times, compare);
    if (rank == 0) printf("%zu %.3f\n", sizeof(double) * (size_t)sizes[s], 1e6 * times[calls / 2]);
  }
  free(in);
  free(out);
  free(times);
  MPI_Finalize();
  return 0;
}
