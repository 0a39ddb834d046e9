/* LD_PRELOAD after the drop-in: perturbs the messages that the drop-in exchanges through PMPI_. Sends and receives are
 * posted late, standard sends become synchronous ones, and completions are reported late and in another order. All of
 * it is within what MPI allows, so that no result may change. Calls fail when a test asks for it (circoll_delay_fail).
 * For tests only.
 *
 * TORTURE_DELAY_SEED       of the random choices (default 1)
 * TORTURE_DELAY_SLEEP_US   the longest sleep, in microseconds (default 200) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The next library's function of this name. */
#define NEXT(name)                                      \
  static __typeof__(&(name)) next;                      \
  if (next == NULL) {                                   \
    void* const symbol = dlsym(RTLD_NEXT, #name);       \
    if (symbol == NULL) {                               \
      fprintf(stderr, "circoll-delay: no %s\n", #name); \
      abort();                                          \
    }                                                   \
    *(void**)&next = symbol;                            \
  }

static uint64_t hash(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

static uint64_t number(const char* name, uint64_t otherwise) {
  const char* const text = getenv(name);
  return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

/* 0 .. n-1; a sequence of its own in each thread of each process. */
static unsigned draw(unsigned n) {
  static __thread uint64_t state;
  if (state == 0) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    state = hash(hash(number("TORTURE_DELAY_SEED", 1)) ^ hash((uint64_t)rank) ^ (uint64_t)(uintptr_t)pthread_self());
  }
  state += 0x9e3779b97f4a7c15U;
  return (unsigned)(hash(state) % n);
}

static void dawdle(void) {
  const unsigned what = draw(100);
  if (what < 4) {
    usleep(1 + draw((unsigned)number("TORTURE_DELAY_SLEEP_US", 200)));
  } else if (what < 20) {
    sched_yield();
  }
}

/* The numbers of calls of PMPI_Isend, PMPI_Irecv and PMPI_Testsome that succeed before one fails. Negative: none
 * fails. */
enum { isend, irecv, testsome, functions };
static int calls_left[functions] = {-1, -1, -1};

/* After `calls` more calls of a function (0 Isend, 1 Irecv, 2 Testsome) one returns MPI_ERR_OTHER and does nothing. */
EXPORT void circoll_delay_fail(int function, int calls) { calls_left[function] = calls; }

static int fails(int function) { return calls_left[function] >= 0 && calls_left[function]-- == 0; }

EXPORT int PMPI_Isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  NEXT(PMPI_Isend)
  dawdle();
  if (fails(isend)) return MPI_ERR_OTHER;
  if (draw(3) == 0) return PMPI_Issend(buf, count, type, dest, tag, comm, request);
  return next(buf, count, type, dest, tag, comm, request);
}

EXPORT int PMPI_Irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  NEXT(PMPI_Irecv)
  dawdle();
  if (fails(irecv)) return MPI_ERR_OTHER;
  return next(buf, count, type, source, tag, comm, request);
}

/* Tests nothing, or a random choice of the requests, or all. A later call finds the completions that were held back. */
EXPORT int PMPI_Testsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  NEXT(PMPI_Testsome)
  enum { most = 256 };
  MPI_Request chosen[most];
  int places[most], active = 0, n = 0, i, rc;
  const unsigned what = draw(4);
  dawdle();
  if (fails(testsome)) return MPI_ERR_OTHER;
  for (i = 0; i < count; ++i) active += requests[i] != MPI_REQUEST_NULL;
  if (active == 0 || what == 0) return next(count, requests, completed, indices, statuses);
  for (i = 0; i < count && n < most; ++i) {
    if (requests[i] == MPI_REQUEST_NULL || draw(2) == 0) continue;
    chosen[n] = requests[i];
    places[n++] = i;
  }
  *completed = 0;
  if (what == 1 || n == 0) {
    /* Messages must move all the same. */
    int flag = 0;
    return PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  }
  rc = next(n, chosen, completed, indices, statuses);
  for (i = 0; i < n; ++i) requests[places[i]] = chosen[i];
  if (*completed == MPI_UNDEFINED) *completed = 0; /* all of them inactive: not so of all that were given */
  for (i = 0; i < *completed; ++i) indices[i] = places[indices[i]];
  return rc;
}
