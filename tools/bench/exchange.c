// Times an exchange: exchange FILE CALLS neighbor|messages|alltoallv|alltoallw|gaps RESULT BYTES...
//
// FILE has a line "FROM TO VALUES" for each two ranks, and BYTES is the size of a value. `neighbor` calls
// MPI_Neighbor_alltoallv, `messages` posts MPI_Irecv and MPI_Isend and waits, `alltoallv` calls MPI_Alltoallv, and
// `alltoallw` MPI_Alltoallw, with MPI_BYTE. So does `gaps`, with a vector of every second eight bytes, as blocks of
// an array have it. RESULT gets a line of JSON: for each of BYTES the median of the later half of the calls, each
// the longest of all ranks, in microseconds.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum way { NEIGHBOR, MESSAGES, ALLTOALLV, ALLTOALLW, GAPS, WAYS };
static const char* const names[WAYS] = {"neighbor", "messages", "alltoallv", "alltoallw", "gaps"};

struct side {
  int peers, total;
  int *rank, *values, *count, *displ;
  char* memory;
  // for MPI_Alltoallv and MPI_Alltoallw, of all ranks
  int *w_count, *w_displ;
  MPI_Datatype* w_type;
};

static void fail(const char* why) {
  fprintf(stderr, "exchange: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

static void add(struct side* side, int rank, int values) {
  const size_t n = (size_t)(side->peers + 1) * sizeof(int);
  side->rank = realloc(side->rank, n);
  side->values = realloc(side->values, n);
  side->count = realloc(side->count, n);
  side->displ = realloc(side->displ, n);
  side->rank[side->peers] = rank;
  side->values[side->peers++] = values;
}

// Values of `bytes` bytes; with gaps a block takes twice its bytes.
static void resize(struct side* side, int bytes, int gaps, int p) {
  side->total = 0;
  for (int i = 0; i < side->peers; ++i) {
    side->count[i] = side->values[i] * bytes;
    side->displ[i] = side->total;
    side->total += side->count[i] * (gaps ? 2 : 1);
  }
  side->memory = realloc(side->memory, (size_t)side->total + 1);
  const size_t n = (size_t)p;
  side->w_count = realloc(side->w_count, n * sizeof(int));
  side->w_displ = realloc(side->w_displ, n * sizeof(int));
  side->w_type = realloc(side->w_type, n * sizeof(MPI_Datatype));
  for (int r = 0; r < p; ++r) {
    side->w_count[r] = side->w_displ[r] = 0;
    side->w_type[r] = MPI_BYTE;
  }
  for (int i = 0; i < side->peers; ++i) {
    const int r = side->rank[i];
    side->w_count[r] = gaps ? 1 : side->count[i];
    side->w_displ[r] = side->displ[i];
    if (!gaps) continue;
    MPI_Type_vector(side->count[i] / 8, 1, 2, MPI_DOUBLE, &side->w_type[r]);
    MPI_Type_commit(&side->w_type[r]);
  }
}

static void free_types(struct side* side, int p) {
  for (int r = 0; r < p; ++r) {
    if (side->w_type[r] != MPI_BYTE) MPI_Type_free(&side->w_type[r]);
  }
}

static void call(enum way way, struct side* out, struct side* in, MPI_Comm graph, MPI_Request* requests,
                 MPI_Status* statuses) {
  if (way == NEIGHBOR) {
    MPI_Neighbor_alltoallv(out->memory, out->count, out->displ, MPI_BYTE, in->memory, in->count, in->displ, MPI_BYTE,
                           graph);
  } else if (way == MESSAGES) {
    int n = 0;
    for (int i = 0; i < in->peers; ++i)
      MPI_Irecv(in->memory + in->displ[i], in->count[i], MPI_BYTE, in->rank[i], 0, graph, &requests[n++]);
    for (int i = 0; i < out->peers; ++i)
      MPI_Isend(out->memory + out->displ[i], out->count[i], MPI_BYTE, out->rank[i], 0, graph, &requests[n++]);
    MPI_Waitall(n, requests, statuses);
  } else if (way == ALLTOALLV) {
    MPI_Alltoallv(out->memory, out->w_count, out->w_displ, MPI_BYTE, in->memory, in->w_count, in->w_displ, MPI_BYTE,
                  MPI_COMM_WORLD);
  } else {
    MPI_Alltoallw(out->memory, out->w_count, out->w_displ, out->w_type, in->memory, in->w_count, in->w_displ,
                  in->w_type, MPI_COMM_WORLD);
  }
}

// Every byte of a block is the rank of its sender, and bytes between are as they were.
static void check(const struct side* in, int gaps) {
  for (int i = 0; i < in->peers; ++i) {
    const char* block = in->memory + in->displ[i];
    for (int b = 0; b < in->count[i] * (gaps ? 2 : 1); ++b) {
      const char expected = (char)(gaps && b % 16 >= 8 ? -1 : in->rank[i]);
      if (block[b] != expected) fail("a wrong value");
    }
  }
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  if (argc < 6) fail("FILE CALLS neighbor|messages|alltoallv|alltoallw|gaps RESULT BYTES...");
  const int calls = atoi(argv[2]), half = calls / 2;
  enum way way = NEIGHBOR;
  while (way < WAYS && strcmp(argv[3], names[way]) != 0) ++way;
  FILE* file = fopen(argv[1], "r");
  if (file == NULL || way == WAYS || calls < 1) fail("no such file, way or number of calls");
  struct side out = {0}, in = {0};
  for (int from, to, values; fscanf(file, "%d %d %d", &from, &to, &values) == 3;) {
    if (from == rank) add(&out, to, values);
    if (to == rank) add(&in, from, values);
  }
  fclose(file);
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in.peers, in.rank, in.values, out.peers, out.rank, out.values,
                                 MPI_INFO_NULL, 0, &graph);
  MPI_Request* requests = malloc((size_t)(in.peers + out.peers + 1) * sizeof *requests);
  MPI_Status* statuses = malloc((size_t)(in.peers + out.peers + 1) * sizeof *statuses);
  double* times = malloc((size_t)calls * sizeof *times);
  double* medians = malloc((size_t)argc * sizeof *medians);
  for (int size = 5; size < argc; ++size) {
    const int bytes = atoi(argv[size]), gaps = way == GAPS;
    if (bytes < 1 || (gaps && bytes % 8 != 0)) fail("BYTES are to be positive, with gaps multiples of 8");
    resize(&out, bytes, gaps, p);
    resize(&in, bytes, gaps, p);
    memset(out.memory, rank, (size_t)out.total + 1);
    for (int i = 0; i < calls; ++i) {
      memset(in.memory, -1, (size_t)in.total);
      PMPI_Barrier(MPI_COMM_WORLD);
      const double begin = PMPI_Wtime();
      call(way, &out, &in, graph, requests, statuses);
      times[i] = PMPI_Wtime() - begin;
      check(&in, gaps);
    }
    free_types(&out, p);
    free_types(&in, p);
    PMPI_Reduce(rank == 0 ? MPI_IN_PLACE : times, times, calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    qsort(times + half, (size_t)(calls - half), sizeof *times, ascending);
    medians[size] = times[half + (calls - half) / 2] * 1e6;
  }
  if (rank == 0) {
    FILE* result = fopen(argv[4], "w");
    if (result == NULL) fail("cannot write the result");
    for (int size = 5; size < argc; ++size)
      fprintf(result, "%s\"%s\": %.3f", size == 5 ? "{" : ", ", argv[size], medians[size]);
    if (fprintf(result, "}\n") < 0 || fclose(result) != 0) fail("cannot write the result");
  }
  MPI_Comm_free(&graph);
  MPI_Finalize();
  return 0;
}
