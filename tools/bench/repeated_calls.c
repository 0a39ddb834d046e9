/* The time of a call in a loop, of a few collectives and sizes. The cost that a drop-in adds to each call shows here
 * first.
 *
 * repeated_calls BATCHES: for each cell BATCHES batches of calls, all ranks from a barrier on. Rank 0 prints a line for
 * each cell: the collective, bytes of the vector, and the median over the batches of the microseconds of a call.
 * A batch is shorter than a processor's time slice, so that the median is of batches which nothing has interrupted.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_bytes = 65536, most_batches = 10000, batch_us = 100 };

static double *out, *in;
static int size;

static void make(char collective, int bytes) {
  const int count = bytes / (int)sizeof(double);
  switch (collective) {
    case 'a':
      MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      break;
    case 'b':
      MPI_Bcast(in, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      break;
    case 'g':
      MPI_Allgather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, MPI_COMM_WORLD);
      break;
    default:
      MPI_Barrier(MPI_COMM_WORLD);
      break;
  }
}

static double time_of(char collective, int bytes, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = MPI_Wtime();
  for (int i = 0; i < calls; ++i) make(collective, bytes);
  return (MPI_Wtime() - begin_s) * 1e6 / calls;
}

static int compare(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

/* The median of some batches of calls, the same number on all ranks. */
static double median_us(char collective, int bytes, int batches, int calls) {
  static double us[most_batches];
  for (int i = 0; i < batches; ++i) us[i] = time_of(collective, bytes, calls);
  qsort(us, (size_t)batches, sizeof *us, compare);
  return us[batches / 2];
}

int main(int argc, char** argv) {
  static const struct {
    char letter;
    const char* name;
  } collectives[] = {{'a', "allreduce"}, {'b', "bcast"}, {'g', "allgather"}, {'-', "barrier"}};
  static const int sizes[] = {8, 1024, most_bytes};
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int batches = argc > 1 ? atoi(argv[1]) : 200;
  if (batches < 1 || batches > most_batches) batches = 200;
  out = calloc((size_t)size, most_bytes);
  in = calloc((size_t)size, most_bytes);
  for (size_t c = 0; out != NULL && in != NULL && c < sizeof collectives / sizeof *collectives; ++c) {
    const int is_barrier = collectives[c].letter == '-';
    for (size_t s = 0; s < (is_barrier ? 1 : sizeof sizes / sizeof *sizes); ++s) {
      const int bytes = is_barrier ? 0 : sizes[s];
      (void)median_us(collectives[c].letter, bytes, 5, 20);
      double guess_us = median_us(collectives[c].letter, bytes, 5, 20);
      MPI_Bcast(&guess_us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      const int calls = guess_us >= batch_us / 2.0 ? 2 : guess_us <= 0.1 ? 1000 : (int)(batch_us / guess_us);
      const double us = median_us(collectives[c].letter, bytes, batches, calls);
      if (rank == 0) printf("%s %d %.4f\n", collectives[c].name, bytes, us);
    }
  }
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
