/* Clusters points by k-means. Each rank has its own points, and all have the 1024 centres of 128 coordinates. In each
 * iteration MPI_Allreduce adds the sums of the points near each centre (1 MiB), their numbers, and the distance. A
 * physicist wrote it to try Circoll (examples/users/run.sh).
 *
 * usage: kmeans [POINTS-OF-A-RANK] [ITERATIONS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { centres = 1024, coordinates = 128, entries = centres * coordinates };

static void random_numbers(unsigned seed, double* to, size_t count) {
  srand(seed);
  for (size_t i = 0; i < count; ++i) to[i] = rand() / (double)RAND_MAX;
}

/* The nearest centre of a point; adds its squared distance. */
static int nearest(const double* point, const double* centre, double* distance) {
  int best = 0;
  double least = 1e300;
  for (int k = 0; k < centres; ++k, centre += coordinates) {
    double squared = 0;
    for (int j = 0; j < coordinates; ++j) squared += (point[j] - centre[j]) * (point[j] - centre[j]);
    if (squared < least) {
      least = squared;
      best = k;
    }
  }
  *distance += least;
  return best;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t points = (size_t)(argc > 1 ? atoi(argv[1]) : 400);
  const int iterations = argc > 2 ? atoi(argv[2]) : 40;
  double *point = calloc(points * coordinates, sizeof(double)), *centre = calloc(entries, sizeof(double));
  double* sum = calloc(entries, sizeof(double));
  int members[centres] = {0};
  random_numbers((unsigned)rank + 1, point, points * coordinates);
  if (rank == 0) random_numbers(99, centre, entries);
  MPI_Bcast(centre, entries, MPI_DOUBLE, 0, MPI_COMM_WORLD);

  double in_collectives_s = 0, distance = 0;
  const double begin = MPI_Wtime();
  for (int iteration = 0; iteration < iterations; ++iteration) {
    memset(sum, 0, entries * sizeof(double));
    memset(members, 0, sizeof members);
    distance = 0;
    for (size_t i = 0; i < points; ++i) {
      const double* const one = point + i * coordinates;
      const int k = nearest(one, centre, &distance);
      ++members[k];
      for (int j = 0; j < coordinates; ++j) sum[k * coordinates + j] += one[j];
    }
    const double before = MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, sum, entries, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, members, centres, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &distance, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    in_collectives_s += MPI_Wtime() - before;
    for (int e = 0; e < entries; ++e) {
      const int k = e / coordinates;
      if (members[k] > 0) centre[e] = sum[e] / members[k];
    }
  }
  const double elapsed = MPI_Wtime() - begin;
  if (rank == 0) {
    int used = 0;
    for (int k = 0; k < centres; ++k) used += members[k] > 0;
    printf("kmeans: %d ranks, %d iterations, %d centres have points\n", ranks, iterations, used);
    printf("seconds %.3f, in collectives %.3f\n", elapsed, in_collectives_s);
    printf("distance %.17g\n", distance);
  }
  free(point);
  free(centre);
  free(sum);
  MPI_Finalize();
  return 0;
}
