/* device_memory RUNTIME WHEN LOADED CLAIMED [FILE]: collectives with buffers in memory of devices on some ranks.
 *
 *   RUNTIME   the library of a runtime, a stand-in that claims what it is told to
 *   WHEN      before or after MPI_Init, or never, it is loaded
 *   LOADED    by all ranks, or the last one
 *   CLAIMED   the buffers of all ranks, of the last one, or of none are in device memory
 *   FILE      the file of a device that the system has, or "idle": the system has none, and the runtime is
 *             initialised after MPI_Init only, so that ranks need not talk before calls
 *
 * Only the MPI library's own collectives can touch device memory, as if the library knew how to. The memory is
 * protected at all other times, so that any other access ends the program. Therefore the program defines those
 * functions. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../devices/device_files.h"
#include "../../devices/stub_runtime.h"
#include "persistent.h"

enum { elements = 100, most_ranks = 8, bytes = 1 << 16 };

static char* device; /* NULL: there is none */
static int opened;   /* nonblocking and persistent operations of the library that may touch it, and calls inside */
static int rank, size, errors;
static int allreduces; /* of the library */
static void (*initialize)(int yes);

static void open_device(void) {
  if (device != NULL && opened++ == 0) mprotect(device, bytes, PROT_READ | PROT_WRITE);
}

static void close_device(void) {
  if (device != NULL && --opened == 0) mprotect(device, bytes, PROT_NONE);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define OPENED(name, parameters, arguments) \
  int name parameters {                     \
    open_device();                          \
    const int error = NEXT(name) arguments; \
    close_device();                         \
    return error;                           \
  }
/* The memory stays open, because the call starts an operation. */
#define LEFT_OPEN(name, parameters, arguments) \
  int name parameters {                        \
    open_device();                             \
    return NEXT(name) arguments;               \
  }

int PMPI_Allreduce(const void* a, void* b, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++allreduces;
  open_device();
  const int error = NEXT(PMPI_Allreduce)(a, b, n, type, op, comm);
  close_device();
  return error;
}
OPENED(PMPI_Bcast, (void* a, int n, MPI_Datatype type, int root, MPI_Comm comm), (a, n, type, root, comm))
OPENED(PMPI_Reduce, (const void* a, void* b, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
       (a, b, n, type, op, root, comm))
OPENED(PMPI_Reduce_scatter, (const void* a, void* b, const int* n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       (a, b, n, type, op, comm))
OPENED(PMPI_Alltoall, (const void* a, int n, MPI_Datatype s, void* b, int m, MPI_Datatype r, MPI_Comm comm),
       (a, n, s, b, m, r, comm))
OPENED(PMPI_Gatherv,
       (const void* a, int n, MPI_Datatype s, void* b, const int* m, const int* at, MPI_Datatype r, int root,
        MPI_Comm comm),
       (a, n, s, b, m, at, r, root, comm))
LEFT_OPEN(PMPI_Iallreduce,
          (const void* a, void* b, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
          (a, b, n, type, op, comm, request))
#ifdef PERSISTENT_IS_MPIX
#define PSCAN PMPIX_Scan_init
#else
#define PSCAN PMPI_Scan_init
#endif
LEFT_OPEN(PSCAN,
          (const void* a, void* b, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
           MPI_Request* request),
          (a, b, n, type, op, comm, info, request))

static void expect(int holds, const char* what) {
  if (holds) return;
  ++errors;
  printf("rank %d of %d: wrong: %s\n", rank, size, what);
}

static void fill(int* a, int n, int value) {
  int i;
  open_device();
  for (i = 0; i < n; ++i) a[i] = value + i;
  close_device();
}

static int is(const int* a, int n, int value, int step) {
  int i, same = 1;
  open_device();
  for (i = 0; i < n; ++i) same &= a[i] == value + step * i;
  close_device();
  return same;
}

/* a and b lie where the arguments say, and c and d in memory of the host on all ranks. */
static void calls_on(MPI_Comm comm, int* a, int* b, int* c, int* d, int ranks_talk) {
  int counts[most_ranks], at[most_ranks], i, round, before = 0;
  const int sum = size * (size - 1) / 2;
  MPI_Request request;
  for (round = 0; round < 3; ++round) { /* the first call, one that is remembered, and one that is known */
    if (round == 1) before = allreduces;
    fill(a, elements, rank);
    MPI_Allreduce(a, b, elements, MPI_INT, MPI_SUM, comm);
    expect(is(b, elements, sum, size), "allreduce");
    MPI_Allreduce(MPI_IN_PLACE, a, elements, MPI_INT, MPI_SUM, comm);
    expect(is(a, elements, sum, size), "allreduce in place");
    fill(a, elements, rank == 0 ? 7 : 0);
    MPI_Bcast(rank == 0 ? c : a, 0, MPI_INT, 0, comm); /* no elements: no matter where */
    MPI_Reduce(a, rank == size - 1 ? b : NULL, elements, MPI_INT, MPI_MAX, size - 1, comm);
    if (rank == size - 1) expect(is(b, elements, 7, 1), "reduce");
    for (i = 0; i < size; ++i) counts[i] = 2, at[i] = 3 * (size - 1 - i);
    fill(a, 2 * size, 0);
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, comm);
    expect(is(b, 2, 2 * rank * size, size), "reduce_scatter");
    fill(a, 2, 10 * rank);
    MPI_Gatherv(a, 2, MPI_INT, b, rank == 0 ? counts : NULL, rank == 0 ? at : NULL, MPI_INT, 0, comm);
    for (i = 0; i < size && rank == 0; ++i) expect(is(b + at[i], 2, 10 * i, 1), "gatherv");
    fill(a, size, 10 * rank);
    MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, comm);
    expect(is(b, size, rank, 10), "alltoall");
    /* c and d are never in device memory. */
    for (i = 0; i < elements; ++i) c[i] = rank;
    MPI_Exscan(c, d, elements, MPI_INT, MPI_SUM, comm);
    for (i = 0; i < elements && rank > 0; ++i) expect(d[i] == rank * (rank - 1) / 2, "exscan");
    MPI_Barrier(comm);
  }
  if (!ranks_talk) expect(allreduces == before, "no rank asks the others about device memory");
  fill(a, elements, rank);
  MPI_Iallreduce(a, b, elements, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(is(b, elements, sum, size), "iallreduce");
  fill(a, elements, rank);
  PERSISTENT(Scan)(a, b, elements, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(is(b, elements, rank * (rank + 1) / 2, rank + 1), "scan_init");
  MPI_Request_free(&request);
}

/* Uses absolute addresses of two pieces, which belong to no single allocation. */
static void absolute(MPI_Comm comm, int* c, int* d) {
  MPI_Aint places[2];
  MPI_Datatype type;
  int i;
  const int lengths[2] = {1, 1};
  MPI_Get_address(c, &places[0]);
  MPI_Get_address(c + 10, &places[1]);
  MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  c[0] = rank, c[10] = 2 * rank;
  MPI_Allgather(MPI_BOTTOM, 1, type, d, 2, MPI_INT, comm);
  for (i = 0; i < size; ++i) expect(d[2 * i] == i && d[2 * i + 1] == 2 * i, "allgather of absolute addresses");
  MPI_Type_free(&type);
}

static int is_one(const char* whose) {
  return strcmp(whose, "all") == 0 || (strcmp(whose, "last") == 0 && rank == size - 1);
}

static void load(const char* runtime, const char* claimed, int idle) {
  void* const library = dlopen(runtime, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  *(void**)&initialize = dlsym(library, "stub_initialize");
  if (idle) initialize(0);
  if (!is_one(claimed)) return;
  device = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ((__typeof__(&stub_claim))dlsym(library, "stub_claim"))(device, bytes, stub_device);
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int idle = argc > 5 && strcmp(argv[5], "idle") == 0;
  if (argc > 5 && !idle) set_device_file(argv[5]);
  /* The launchers' variables have the rank before MPI does. */
  const char* const place = getenv("OMPI_COMM_WORLD_RANK") != NULL ? "OMPI_COMM_WORLD_RANK" : "PMI_RANK";
  const char* const ranks = getenv("OMPI_COMM_WORLD_SIZE") != NULL ? "OMPI_COMM_WORLD_SIZE" : "PMI_SIZE";
  rank = getenv(place) != NULL ? atoi(getenv(place)) : 0;
  size = getenv(ranks) != NULL ? atoi(getenv(ranks)) : 1;
  if (strcmp(argv[2], "before") == 0 && is_one(argv[3])) load(argv[1], argv[4], idle);
  MPI_Init(&argc, &argv);
  if (strcmp(argv[2], "after") == 0 && is_one(argv[3])) load(argv[1], argv[4], idle);
  int* const host = calloc(bytes, 1);
  int* const a = device != NULL ? (int*)device : host + 2000;
  int* const b = a + 1000;
  if (initialize != NULL) initialize(1);
  calls_on(MPI_COMM_WORLD, a, b, host, host + 1000, !idle);
  absolute(MPI_COMM_WORLD, host, host + 1000);
  free(host);
  MPI_Finalize();
  return errors != 0;
}
