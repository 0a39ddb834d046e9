/* Solves a Poisson equation in two dimensions by conjugate gradients. Each rank has a block of rows, exchanges one row
 * with each neighbour, and adds two inner products per iteration by MPI_Allreduce of 8 bytes. A physicist wrote it to
 * try Circoll (examples/users/run.sh). examples/cg is a larger solver of the same kind.
 *
 * usage: poisson [COLUMNS] [ROWS-OF-A-RANK] [ITERATIONS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double in_collectives_s = 0;

static double sum_over_ranks(double mine) {
  double sum = 0;
  const double begin = MPI_Wtime();
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  in_collectives_s += MPI_Wtime() - begin;
  return sum;
}

static double dot(const double* a, const double* b, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum_over_ranks(sum);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int columns = argc > 1 ? atoi(argv[1]) : 256, rows = argc > 2 ? atoi(argv[2]) : 64;
  const int iterations = argc > 3 ? atoi(argv[3]) : 20000;
  const size_t nx = (size_t)columns, n = nx * (size_t)rows;
  double *x = calloc(n, sizeof(double)), *b = malloc(n * sizeof(double)), *residual = malloc(n * sizeof(double));
  double *product = malloc(n * sizeof(double)), *with_halo = calloc(n + 2 * nx, sizeof(double));
  double* direction = with_halo + nx;
  for (size_t i = 0; i < n; ++i) {
    b[i] = 1 + (double)((i * 7919 + (size_t)rank) % 13) * 0.1;
    residual[i] = direction[i] = b[i];
  }
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  double squared = dot(residual, residual, n);
  in_collectives_s = 0;
  const double begin = MPI_Wtime();
  for (int k = 0; k < iterations; ++k) {
    MPI_Sendrecv(direction, columns, MPI_DOUBLE, above, 0, direction + n, columns, MPI_DOUBLE, below, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(direction + n - nx, columns, MPI_DOUBLE, below, 1, with_halo, columns, MPI_DOUBLE, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t c = 0; c < n; ++c) {
      const double* const d = direction + c;
      const double left = c % nx > 0 ? d[-1] : 0, right = c % nx < nx - 1 ? d[1] : 0;
      product[c] = 4.01 * d[0] - *(d - nx) - d[nx] - left - right;
    }
    const double alpha = squared / dot(product, direction, n);
    for (size_t i = 0; i < n; ++i) {
      x[i] += alpha * direction[i];
      residual[i] -= alpha * product[i];
    }
    const double before = squared;
    squared = dot(residual, residual, n);
    if (squared < 1e-16) { /* It has converged, and begins anew, so that any number of iterations can be timed. */
      for (size_t i = 0; i < n; ++i) {
        x[i] = 0;
        residual[i] = direction[i] = b[i];
      }
      squared = dot(residual, residual, n);
      continue;
    }
    for (size_t i = 0; i < n; ++i) direction[i] = residual[i] + squared / before * direction[i];
  }
  const double elapsed = MPI_Wtime() - begin;
  double mine = 0, sum = 0;
  for (size_t i = 0; i < n; ++i) mine += x[i];
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("poisson: %d ranks, %d iterations\n", ranks, iterations);
    printf("seconds %.3f, in collectives %.3f\n", elapsed, in_collectives_s);
    printf("residual %.17g\nsolution %.17g\n", squared, sum);
  }
  free(x);
  free(b);
  free(residual);
  free(product);
  free(with_halo);
  MPI_Finalize();
  return 0;
}
