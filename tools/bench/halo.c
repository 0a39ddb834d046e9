// Times the exchange of a halo: halo FILE BYTES CALLS neighbor|messages RESULT
//
// FILE has a line "FROM TO VALUES" for each two ranks, and BYTES is the size of a value. `neighbor` calls
// MPI_Neighbor_alltoallv, `messages` posts MPI_Irecv and MPI_Isend and waits. RESULT gets a line of JSON: the median of
// the later half of the calls, each the longest of all ranks, in microseconds.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct side {
  int peers, total;
  int *rank, *count, *displ;
  char* memory;
};

static void add(struct side* side, int rank, int count) {
  const size_t n = (size_t)(side->peers + 1) * sizeof(int);
  side->rank = realloc(side->rank, n);
  side->count = realloc(side->count, n);
  side->displ = realloc(side->displ, n);
  side->rank[side->peers] = rank;
  side->count[side->peers] = count;
  side->displ[side->peers++] = side->total;
  side->total += count;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE* file = argc == 6 ? fopen(argv[1], "r") : NULL;
  if (file == NULL) {
    fprintf(stderr, "halo FILE BYTES CALLS neighbor|messages RESULT\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
  }
  const int bytes = atoi(argv[2]), calls = atoi(argv[3]), by_neighbor = strcmp(argv[4], "neighbor") == 0;
  struct side out = {0}, in = {0};
  for (int from, to, values; fscanf(file, "%d %d %d", &from, &to, &values) == 3;) {
    if (from == rank) add(&out, to, values * bytes);
    if (to == rank) add(&in, from, values * bytes);
  }
  fclose(file);
  out.memory = malloc((size_t)out.total + 1);
  in.memory = malloc((size_t)in.total + 1);
  memset(out.memory, rank, (size_t)out.total + 1);
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in.peers, in.rank, in.count, out.peers, out.rank, out.count,
                                 MPI_INFO_NULL, 0, &graph);
  MPI_Request* requests = malloc((size_t)(in.peers + out.peers + 1) * sizeof *requests);
  double* times = malloc((size_t)calls * sizeof *times);
  for (int call = 0; call < calls; ++call) {
    memset(in.memory, -1, (size_t)in.total);
    PMPI_Barrier(MPI_COMM_WORLD);
    const double begin = PMPI_Wtime();
    if (by_neighbor) {
      MPI_Neighbor_alltoallv(out.memory, out.count, out.displ, MPI_BYTE, in.memory, in.count, in.displ, MPI_BYTE,
                             graph);
    } else {
      int n = 0;
      for (int i = 0; i < in.peers; ++i)
        MPI_Irecv(in.memory + in.displ[i], in.count[i], MPI_BYTE, in.rank[i], 0, graph, &requests[n++]);
      for (int i = 0; i < out.peers; ++i)
        MPI_Isend(out.memory + out.displ[i], out.count[i], MPI_BYTE, out.rank[i], 0, graph, &requests[n++]);
      MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    }
    times[call] = PMPI_Wtime() - begin;
    for (int i = 0; i < in.peers; ++i) {
      for (int b = 0; b < in.count[i]; ++b) {
        if (in.memory[in.displ[i] + b] == (char)in.rank[i]) continue;
        fprintf(stderr, "halo: call %d brought a wrong value from rank %d\n", call, in.rank[i]);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
  }
  PMPI_Reduce(rank == 0 ? MPI_IN_PLACE : times, times, calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    const int half = calls / 2;
    qsort(times + half, (size_t)(calls - half), sizeof *times, ascending);
    FILE* result = fopen(argv[5], "w");
    if (result != NULL) fprintf(result, "{\"median_us\": %.3f}\n", times[half + (calls - half) / 2] * 1e6);
    if (result == NULL || fclose(result) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Comm_free(&graph);
  MPI_Finalize();
  return 0;
}
