/* Counts allocations of repeated calls on two ranks: a small allreduce, and the messages of which one consists. Knows
 * nothing of Circoll. The counts of malloc and its kin are of the whole process, whoever calls them. Fails if the
 * allreduces allocate more than the messages do. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

enum { rounds = 50, calls = 200 };

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* old, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

static __thread int counting;
static __thread long allocations;

void* malloc(size_t bytes) {
  allocations += counting;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  allocations += counting;
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, size_t bytes) {
  allocations += counting;
  return __libc_realloc(old, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  allocations += counting;
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** made, size_t alignment, size_t bytes) {
  *made = memalign(alignment, bytes);
  return *made == NULL ? 12 : 0;
}

static MPI_Comm comm;
static int rank;

static double sum_once(MPI_Comm of) {
  double mine = rank + 1, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, of);
  return sum;
}

static double exchange_once(void) {
  double mine = rank + 1, others = 0;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int left = 2, completed, indices[2];
  MPI_Irecv(&others, 1, MPI_DOUBLE, 1 - rank, 0, comm, &requests[0]);
  MPI_Isend(&mine, 1, MPI_DOUBLE, 1 - rank, 0, comm, &requests[1]);
  while (left > 0) {
    MPI_Testsome(2, requests, &completed, indices, statuses);
    left -= completed;
  }
  return mine + others;
}

int main(int argc, char** argv) {
  long first, sums = 0, messages = 0;
  double wrong = 0;
  int round, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  counting = 1;
  wrong += sum_once(comm) - 3; /* the first call prepares something in any library */
  first = allocations;
  counting = 0;
  for (round = -5; round < rounds; ++round) {
    if (round == 0) sums = messages = 0; /* before, everybody's memory grows to what is needed */
    allocations = 0;
    counting = 1;
    for (i = 0; i < calls; ++i) wrong += sum_once(MPI_COMM_WORLD) - 3;
    sums += allocations;
    allocations = 0;
    for (i = 0; i < calls; ++i) wrong += exchange_once() - 3;
    messages += allocations;
    counting = 0;
  }
  printf("rank %d: the first allreduce allocates %s, %d of them %ld times, their messages %ld times\n", rank,
         first > 0 ? "something" : "nothing", rounds * calls, sums, messages);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  /* Pools of the MPI library grow now and then. Allocations of ours for each call would come in every call. */
  return first == 0 || sums > messages + rounds * calls / 1000 || wrong != 0;
}
