/* Collectives on datatypes of MPI 4's large-count constructors, and of types that are made of those. Prints a digest of
 * every result. Knows nothing of Circoll: its output must be the same with and without the drop-in. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"

enum { most_ints = 8, elements = 3 };

/* The type under test: the ints of an element, in the order of its signature, and the distance of elements in ints. */
static int ints;
static int place[most_ints];
static int extent;

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  int i, k;
  (void)type;
  for (i = 0; i < *n; ++i) {
    for (k = 0; k < ints; ++k) ((int*)inout)[i * extent + place[k]] += ((int*)in)[i * extent + place[k]];
  }
}

enum { kinds = 28 };
static const char* const names[kinds] = {"contiguous_c",
                                         "vector_c",
                                         "hvector_c",
                                         "indexed_c",
                                         "hindexed_c",
                                         "indexed_block_c",
                                         "hindexed_block_c",
                                         "struct_c",
                                         "subarray_c",
                                         "darray_c",
                                         "resized_c",
                                         "dup of contiguous_c",
                                         "dup of vector_c",
                                         "dup of a dup of contiguous_c",
                                         "contiguous of contiguous_c",
                                         "contiguous of struct_c",
                                         "vector of contiguous_c",
                                         "hindexed of indexed_c",
                                         "indexed_block of hvector_c",
                                         "struct of vector_c and contiguous_c",
                                         "resized of contiguous_c",
                                         "subarray of resized_c",
                                         "contiguous_c of contiguous",
                                         "contiguous_c of a dup of contiguous_c",
                                         "contiguous_c of vector_c",
                                         "resized_c of indexed_block_c",
                                         "contiguous_c of one resized_c",
                                         "contiguous_c of a Fortran 90 integer"};

/* Makes a type of ints by one of the constructors with large counts. */
static MPI_Datatype simple(int kind) {
  static const MPI_Count lengths[2] = {1, 2}, places[3] = {4, 0, 2}, sizes[2] = {3, 4}, parts[2] = {2, 2},
                         ones[2] = {1, 1};
  static const MPI_Count bytes[3] = {16, 0, 8}, six = 6;
  static const int blocks = MPI_DISTRIBUTE_BLOCK, usual = MPI_DISTRIBUTE_DFLT_DARG, two = 2;
  MPI_Datatype both[2], made = MPI_DATATYPE_NULL, pair;
  both[0] = both[1] = MPI_INT;
  switch (kind) {
    case 0:
      MPI_Type_contiguous_c(4, MPI_INT, &made);
      break;
    case 1:
      MPI_Type_vector_c(3, 1, 2, MPI_INT, &made);
      break;
    case 2:
      MPI_Type_create_hvector_c(2, 2, 12, MPI_INT, &made);
      break;
    case 3:
      MPI_Type_indexed_c(2, lengths, places, MPI_INT, &made);
      break;
    case 4:
      MPI_Type_create_hindexed_c(2, lengths, bytes, MPI_INT, &made);
      break;
    case 5:
      MPI_Type_create_indexed_block_c(3, 1, places, MPI_INT, &made);
      break;
    case 6:
      MPI_Type_create_hindexed_block_c(3, 1, bytes, MPI_INT, &made);
      break;
    case 7:
      MPI_Type_create_struct_c(2, lengths, bytes, both, &made);
      break;
    case 8:
      MPI_Type_create_subarray_c(2, sizes, parts, ones, MPI_ORDER_C, MPI_INT, &made);
      break;
    case 9:
      MPI_Type_create_darray_c(2, 1, 1, &six, &blocks, &usual, &two, MPI_ORDER_C, MPI_INT, &made);
      break;
    default:
      MPI_Type_contiguous_c(2, MPI_INT, &pair);
      MPI_Type_create_resized_c(pair, 0, 16, &made);
      MPI_Type_free(&pair);
  }
  return made;
}

/* Makes a type of another type, which is freed. Only the new type still needs the other one. */
static MPI_Datatype of(int kind) {
  static const int lengths[2] = {1, 1}, blocks[2] = {0, 2}, sizes[1] = {3}, parts[1] = {2}, starts[1] = {1};
  static const MPI_Aint places[2] = {40, 0};
  static const int inner[kinds] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 7, 0, 3, 2, 1, 0, 10, 0, 0, 1, 5, 10};
  MPI_Datatype base = simple(inner[kind]), made = MPI_DATATYPE_NULL, other, both[2];
  switch (kind) {
    case 11:
    case 12:
      MPI_Type_dup(base, &made);
      break;
    case 13:
      MPI_Type_dup(base, &other);
      MPI_Type_dup(other, &made);
      MPI_Type_free(&other);
      break;
    case 14:
    case 15:
      MPI_Type_contiguous(2, base, &made);
      break;
    case 16:
      MPI_Type_vector(2, 1, 2, base, &made);
      break;
    case 17:
      MPI_Type_create_hindexed(2, lengths, places, base, &made);
      break;
    case 18:
      MPI_Type_create_indexed_block(2, 1, blocks, base, &made);
      break;
    case 19:
      both[0] = base;
      both[1] = other = simple(0);
      MPI_Type_create_struct(2, lengths, places, both, &made);
      MPI_Type_free(&other);
      break;
    case 20:
      MPI_Type_create_resized(base, 0, 20, &made);
      break;
    case 21:
      MPI_Type_create_subarray(1, sizes, parts, starts, MPI_ORDER_C, base, &made);
      break;
    case 22:
      MPI_Type_free(&base);
      MPI_Type_contiguous(2, MPI_INT, &base);
      MPI_Type_contiguous_c(3, base, &made);
      break;
    case 23:
      MPI_Type_dup(base, &other);
      MPI_Type_contiguous_c(2, other, &made);
      MPI_Type_free(&other);
      break;
    case 24:
      MPI_Type_contiguous_c(2, base, &made);
      break;
    case 27: /* that one is not to be freed */
      MPI_Type_create_f90_integer(9, &other);
      MPI_Type_contiguous_c(3, other, &made);
      break;
    case 25:
      MPI_Type_create_resized_c(base, -4, 28, &made);
      break;
    default:
      MPI_Type_contiguous_c(1, base, &made);
  }
  MPI_Type_free(&base);
  return made;
}

/* Reads the type's places from a message to ourselves. */
static void look_at(MPI_Datatype type) {
  int memory[64], i;
  MPI_Count lb, bytes;
  MPI_Type_size_c(type, &bytes);
  ints = (int)(bytes / (MPI_Count)sizeof(int));
  MPI_Type_get_extent_c(type, &lb, &bytes);
  extent = (int)(bytes / (MPI_Count)sizeof(int));
  for (i = 0; i < 64; ++i) memory[i] = i - 8;
  MPI_Sendrecv(memory + 8, 1, type, 0, 2, place, ints, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static int *a, *b;
static size_t bytes_of_all;

/* Fills the buffers of a call: numbers to send, and values that the call must not touch. */
static void fill(void) {
  size_t i;
  for (i = 0; i < bytes_of_all / sizeof(int); ++i) {
    a[i] = (rank + 1) * 10000 + (int)i;
    b[i] = -(rank + 1) * 10000 - (int)i;
  }
}

int main(int argc, char** argv) {
  int kind, i, in_front = 16;
  int *counts, *displs, *one_each;
  MPI_Count* large_ones;
  MPI_Aint* large_displs;
  MPI_Op op;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bytes_of_all = sizeof(int) * (size_t)(2 * in_front + 24 * elements * (size + 1));
  a = malloc(bytes_of_all);
  b = malloc(bytes_of_all);
  counts = malloc(sizeof(int) * (size_t)size);
  displs = malloc(sizeof(int) * (size_t)size);
  one_each = malloc(sizeof(int) * (size_t)size);
  large_ones = malloc(sizeof(MPI_Count) * (size_t)size);
  large_displs = malloc(sizeof(MPI_Aint) * (size_t)size);
  for (i = 0; i < size; ++i) {
    counts[i] = i % 2 == 0 ? elements : elements - 1;
    displs[i] = (size - 1 - i) * elements;
    large_displs[i] = displs[i];
    large_ones[i] = one_each[i] = 1;
  }
  MPI_Op_create(add, 1, &op);
  for (kind = 0; kind < kinds; ++kind) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype type = kind <= 10 ? simple(kind) : of(kind);
    int *x, *y, n = elements;
    MPI_Type_commit(&type);
    look_at(type);
    x = a + in_front;
    y = b + in_front;
    if (rank == 0) printf("%s: %d of %d ints\n", names[kind], ints, extent);
#define CALL(name, call)                \
  do {                                  \
    fill();                             \
    call;                               \
    report("  " name, b, bytes_of_all); \
  } while (0)
#define WAITED(name, call) CALL(name, call; MPI_Wait(&request, MPI_STATUS_IGNORE))
    CALL("bcast", MPI_Bcast(y, n, type, size - 1, MPI_COMM_WORLD));
    CALL("allgather", MPI_Allgather(x, n, type, y, n, type, MPI_COMM_WORLD));
    CALL("allgather in place", MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y, n, type, MPI_COMM_WORLD));
    CALL("allgather to ints", MPI_Allgather(x, 1, type, y, ints, MPI_INT, MPI_COMM_WORLD));
    CALL("allgatherv", MPI_Allgatherv(x, counts[rank], type, y, counts, displs, type, MPI_COMM_WORLD));
    CALL("gather", MPI_Gather(x, n, type, y, n, type, 0, MPI_COMM_WORLD));
    CALL("gatherv", MPI_Gatherv(x, counts[rank], type, y, counts, displs, type, 0, MPI_COMM_WORLD));
    CALL("scatter", MPI_Scatter(x, n, type, y, n, type, 0, MPI_COMM_WORLD));
    CALL("scatterv", MPI_Scatterv(x, counts, displs, type, y, counts[rank], type, 0, MPI_COMM_WORLD));
    CALL("alltoall", MPI_Alltoall(x, n, type, y, n, type, MPI_COMM_WORLD));
    CALL("alltoall in place", MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y, n, type, MPI_COMM_WORLD));
    CALL("alltoallv", MPI_Alltoallv(x, one_each, displs, type, y, one_each, displs, type, MPI_COMM_WORLD));
    CALL("alltoallv, large counts",
         MPI_Alltoallv_c(x, large_ones, large_displs, type, y, large_ones, large_displs, type, MPI_COMM_WORLD));
    CALL("allreduce", MPI_Allreduce(x, y, n, type, op, MPI_COMM_WORLD));
    CALL("allreduce in place", MPI_Allreduce(MPI_IN_PLACE, y, n, type, op, MPI_COMM_WORLD));
    CALL("allreduce, large counts", MPI_Allreduce_c(x, y, n, type, op, MPI_COMM_WORLD));
    CALL("reduce", MPI_Reduce(x, y, n, type, op, 0, MPI_COMM_WORLD));
    CALL("reduce_scatter_block", MPI_Reduce_scatter_block(x, y, 1, type, op, MPI_COMM_WORLD));
    CALL("reduce_scatter", MPI_Reduce_scatter(x, y, counts, type, op, MPI_COMM_WORLD));
    CALL("scan", MPI_Scan(x, y, n, type, op, MPI_COMM_WORLD));
    CALL("exscan", MPI_Exscan(x, y, n, type, op, MPI_COMM_WORLD));
    WAITED("ibcast", MPI_Ibcast(y, n, type, 0, MPI_COMM_WORLD, &request));
    WAITED("iallgather", MPI_Iallgather(x, n, type, y, n, type, MPI_COMM_WORLD, &request));
    WAITED("ialltoall", MPI_Ialltoall(x, n, type, y, n, type, MPI_COMM_WORLD, &request));
    WAITED("iallreduce", MPI_Iallreduce(x, y, n, type, op, MPI_COMM_WORLD, &request));
    WAITED("iallreduce in place", MPI_Iallreduce(MPI_IN_PLACE, y, n, type, op, MPI_COMM_WORLD, &request));
    if (kind % 2 == 0) { /* pending operations keep what they need of it */
      fill();
      MPI_Iallreduce(x, y, n, type, op, MPI_COMM_WORLD, &request);
      MPI_Type_free(&type);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      report("  iallreduce, freed early", b, bytes_of_all);
    } else {
      MPI_Type_free(&type);
    }
  }
  MPI_Op_free(&op);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  free(a);
  free(b);
  free(counts);
  free(displs);
  free(one_each);
  free(large_ones);
  free(large_displs);
  return 0;
}
