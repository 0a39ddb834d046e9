/* Fourier transform of the rows of a square matrix of complex numbers, and its transposition by MPI_Alltoall, again and
 * again. Each rank has a block of rows. With 512 rows and 2 ranks a call moves 2 MiB. A physicist wrote it to try
 * Circoll (examples/users/run.sh).
 *
 * usage: fft [N, A POWER OF TWO, A MULTIPLE OF THE RANKS] [ITERATIONS] */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef double complex number;

/* The transform of a row of n numbers in place; root[i] is exp(-2 pi i / n). */
static void transform(number* row, int n, const number* root) {
  for (int i = 1, j = 0; i < n; ++i) { /* bits in reverse order */
    int bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      const number other = row[i];
      row[i] = row[j];
      row[j] = other;
    }
  }
  for (int length = 2; length <= n; length <<= 1) {
    for (int i = 0; i < n; i += length) {
      for (int k = 0; k < length / 2; ++k) {
        const number a = row[i + k], b = row[i + k + length / 2] * root[k * (n / length)];
        row[i + k] = a + b;
        row[i + k + length / 2] = a - b;
      }
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int n = argc > 1 ? atoi(argv[1]) : 512, iterations = argc > 2 ? atoi(argv[2]) : 60, m = n / ranks;
  if (n < 1 || (n & (n - 1)) != 0 || m * ranks != n) {
    if (rank == 0) fprintf(stderr, "fft: %d is no power of two that %d ranks can share\n", n, ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const size_t columns = (size_t)n, entries = (size_t)m * columns;
  number *mine = malloc(entries * sizeof(number)), *other = malloc(entries * sizeof(number));
  number* root = malloc(columns * sizeof(number));
  const double turn = -2 * acos(-1.0) / n, scale = 1 / sqrt(n);
  for (int i = 0; i < n; ++i) root[i] = cexp(turn * i * I);
  for (size_t i = 0; i < entries; ++i) mine[i] = (double)((i * 31 + (size_t)rank * 17) % 101) / 101.0;

  double in_collectives_s = 0;
  const double begin = MPI_Wtime();
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (int i = 0; i < m; ++i) transform(mine + (size_t)i * columns, n, root);
    number* to = other; /* one block for each rank, transposed */
    for (int q = 0; q < ranks; ++q) {
      for (int j = 0; j < m; ++j) {
        for (int i = 0; i < m; ++i) *to++ = mine[(size_t)i * columns + (size_t)(q * m + j)] * scale;
      }
    }
    const double before = MPI_Wtime();
    MPI_Alltoall(other, 2 * m * m, MPI_DOUBLE, mine, 2 * m * m, MPI_DOUBLE, MPI_COMM_WORLD);
    in_collectives_s += MPI_Wtime() - before;
    const number* from = mine;
    for (int q = 0; q < ranks; ++q) {
      for (int j = 0; j < m; ++j) {
        for (int i = 0; i < m; ++i) other[(size_t)j * columns + (size_t)(q * m + i)] = *from++;
      }
    }
    number* const swapped = mine;
    mine = other;
    other = swapped;
  }
  const double elapsed = MPI_Wtime() - begin;
  double norm = 0, sum = 0;
  for (size_t i = 0; i < entries; ++i) norm += creal(mine[i] * conj(mine[i]));
  MPI_Reduce(&norm, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("fft: %d ranks, %d iterations of %d rows\n", ranks, iterations, n);
    printf("seconds %.3f, in collectives %.3f\n", elapsed, in_collectives_s);
    printf("norm %.17g\nfirst %.17g %.17g\n", sum, creal(mine[1]), cimag(mine[1]));
  }
  free(mine);
  free(other);
  free(root);
  MPI_Finalize();
  return 0;
}
