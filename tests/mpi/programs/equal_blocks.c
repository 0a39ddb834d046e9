/* Exchanges whose blocks are all equal in some stretches of calls and differ in others, with datatypes, places and
   communicators of many kinds. Each rank checks every number that it receives. Knows nothing of Circoll.

   usage: equal_blocks CALLS SEED [strided|persistent]; rank 0 prints the number of calls, and how many numbers were
   wrong. With "strided" all calls are an alltoallw of the same blocks with gaps, whose datatypes are others under the
   same handles. With "persistent" those by MPI_Alltoallv have a request each, which is started twice. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "persistent.h"

enum { most = 64, gap = 3 };

enum kind {
  same,
  other_types,
  other_places,
  one_differs,
  all_differ,
  none,
  strided,
  contiguous,
  in_place,
  typed,
  typed_differ,
  typed_strided,
  kinds
};

static int rank, size; /* in the communicator of the call */
static uint64_t state;

/* SplitMix64: the same on all ranks. */
static uint64_t draw(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static int value(int from, int to, int call, int i) { return ((call * 131 + from) * 131 + to) * 131 + i; }

/* Numbers that `from` sends to `to`. */
static int count_of(enum kind kind, int count, int from, int to, int odd_one) {
  switch (kind) {
    case none:
      return 0;
    case one_differs:
      return from == odd_one && to == (odd_one + 1) % size ? count + 1 : count;
    case all_differ:
    case typed_differ:
      return (from * 7 + to * 3 + count) % 9;
    default:
      return count;
  }
}

static int is_persistent;

static void alltoallv(const void* out, const int* scounts, const int* sdispls, MPI_Datatype stype, void* in,
                      const int* rcounts, const int* rdispls, MPI_Datatype rtype, MPI_Comm comm) {
  if (!is_persistent) {
    MPI_Alltoallv(out, scounts, sdispls, stype, in, rcounts, rdispls, rtype, comm);
    return;
  }
  MPI_Request request;
  PERSISTENT(Alltoallv)
  (out, scounts, sdispls, stype, in, rcounts, rdispls, rtype, comm, MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int calls = argc > 1 ? atoi(argv[1]) : 400;
  state = argc > 2 ? (uint64_t)atoi(argv[2]) : 1;
  const int all_strided = argc > 3 && strcmp(argv[3], "strided") == 0;
  is_persistent = argc > 3 && strcmp(argv[3], "persistent") == 0;
  const size_t room = (size_t)size * (most + 2 + gap) * 3;
  int *out = malloc(room * sizeof *out), *in = malloc(room * sizeof *in);
  int* numbers = malloc(6 * (size_t)size * sizeof *numbers);
  int *scounts = numbers, *sdispls = numbers + size, *rcounts = numbers + 2 * size, *rdispls = numbers + 3 * size;
  MPI_Datatype* types = malloc((size_t)size * sizeof(MPI_Datatype));
  MPI_Datatype second;
  MPI_Type_vector(1, 1, 2, MPI_INT, &second);
  MPI_Type_commit(&second);
  MPI_Datatype every_second;
  MPI_Type_create_resized(second, 0, 2 * sizeof(int), &every_second);
  MPI_Type_commit(&every_second);
  MPI_Datatype four_bytes;
  MPI_Type_contiguous(4, MPI_BYTE, &four_bytes);
  MPI_Type_commit(&four_bytes);
  MPI_Comm comm = MPI_COMM_WORLD, reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  long wrong = 0;
  int left = all_strided ? calls : 0, count = 5, odd_one = 0;
  enum kind kind = all_strided ? typed_strided : same;
  for (int call = 0; call < calls; ++call) {
    if (left-- == 0) {
      left = (int)(draw() % 30);
      kind = (enum kind)(draw() % kinds);
      count = 1 + (int)(draw() % most);
      odd_one = (int)(draw() % (uint64_t)size);
      if (draw() % 3 == 0) kind = same;
      comm = draw() % 4 == 0 ? reversed : MPI_COMM_WORLD;
      MPI_Comm_rank(comm, &rank);
    }
    const int by_bytes = kind == other_types && rank % 2 == 0;
    /* From one number to the next, and from one block to the next beside its numbers. */
    int step = kind == strided && rank == odd_one ? 2 : 1, spread = step;
    if (kind == typed_strided && rank % 2 == 1) step = 1 + call / 2 % 3, spread = 3;
    const int backwards = kind == other_places && rank % 2 == 1;
    for (int turn = 0, s = 0, r = 0; turn < size; ++turn) {
      const int i = backwards ? size - 1 - turn : turn;
      scounts[i] = count_of(kind, count, rank, i, odd_one);
      rcounts[i] = count_of(kind, count, i, rank, odd_one);
      sdispls[i] = s;
      rdispls[i] = r;
      s += scounts[i] + (kind == other_places ? gap : 0);
      r += rcounts[i] + (kind == other_places ? gap : 0);
      for (int k = 0; k < scounts[i]; ++k) out[sdispls[i] * spread + k * step] = value(rank, i, call, k);
      types[i] = MPI_INT;
    }
    memset(in, 0xff, room * sizeof *in);
    if (kind == typed || kind == typed_differ || kind == typed_strided) {
      const int unit = spread * (int)sizeof(int);
      for (int i = 0; i < size; ++i) {
        sdispls[i] *= unit;
        rdispls[i] *= unit;
      }
      MPI_Datatype strided = MPI_DATATYPE_NULL; /* a block is one element, with gaps */
      if (spread > 1) {
        if (step == 1) MPI_Type_contiguous(count, MPI_INT, &strided);
        if (step > 1) MPI_Type_vector(count, 1, step, MPI_INT, &strided);
        MPI_Type_commit(&strided);
        for (int i = 0; i < size; ++i) {
          scounts[i] = rcounts[i] = 1;
          types[i] = strided;
        }
      }
      MPI_Alltoallw(out, scounts, sdispls, types, in, rcounts, rdispls, types, comm);
      for (int i = 0; i < size; ++i) {
        rdispls[i] /= unit;
        if (spread > 1) rcounts[i] = count;
      }
      if (spread > 1) MPI_Type_free(&strided);
    } else if (by_bytes) {
      for (int i = 0; i < size; ++i) {
        scounts[i] *= (int)sizeof(int);
        sdispls[i] *= (int)sizeof(int);
      }
      alltoallv(out, scounts, sdispls, MPI_BYTE, in, rcounts, rdispls, MPI_INT, comm);
    } else if (kind == in_place) {
      for (int i = 0; i < size; ++i) memcpy(in + rdispls[i], out + sdispls[i], (size_t)rcounts[i] * sizeof *in);
      MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, rcounts, rdispls, MPI_INT, comm);
    } else {
      MPI_Datatype type = step == 2 ? every_second : kind == contiguous && rank % 2 ? four_bytes : MPI_INT;
      alltoallv(out, scounts, sdispls, type, in, rcounts, rdispls, type, comm);
    }
    size_t received = 0;
    for (int i = 0; i < size; ++i) {
      for (int k = 0; k < rcounts[i]; ++k) wrong += in[rdispls[i] * spread + k * step] != value(i, rank, call, k);
      received += (size_t)rcounts[i];
    }
    /* Nothing else was written. */
    for (size_t i = 0; i < room; ++i) received -= in[i] != -1;
    wrong += received != 0;
  }
  long all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%d calls, %ld numbers are wrong\n", calls, all);
  MPI_Comm_free(&reversed);
  MPI_Type_free(&four_bytes);
  MPI_Type_free(&second);
  MPI_Type_free(&every_second);
  free(out);
  free(in);
  free(numbers);
  free(types);
  MPI_Finalize();
  return all != 0;
}
