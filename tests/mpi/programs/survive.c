/* Collectives in a loop, while ranks die. The program checks every result.
 * survive ITERATIONS COUNT SEED KILLS COLLECTIVES [WITHIN_US [exit]]: KILLS ranks, by a seed, kill themselves at random
 * moments of the first WITHIN_US microseconds, or exit in the middle of everything. With odd seeds the second rank
 * fails right after the first. In each element of a reduction the contribution of rank r is the bit r times a weight,
 * so that the result tells whose contributions it holds. It must hold those of all survivors. It may hold those of a
 * failed rank only if it holds all of them. All survivors compare these sets. COLLECTIVES is a text of letters:
 *   a allreduce  i allreduce in place  b bcast  g allgather  r reduce  s reduce_scatter_block  t alltoall  v allgatherv
 *   n gather  c scatter  x scan  j nonblocking allreduce  p no collective: a write to a pipe that nobody reads
 * At the end the survivors make a communicator of their own, and use it.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "circoll/survive.h"

enum { most = 64 };

static int rank, size, count, wrong, refused, full, survivors, failed_calls;
static int64_t *out, *in;
static int dead[most];
static long delay_us;
static int exits;
static double hit_s; /* when the last call that a failure had hit was over */

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t random_state;
static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static void* die_later(void* nothing) {
  struct timespec pause = {delay_us / 1000000, delay_us % 1000000 * 1000};
  nanosleep(&pause, NULL);
  char text[64];
  const int length = snprintf(text, sizeof text, "rank %d: killed at %.6f\n", rank, now_s());
  if (write(STDOUT_FILENO, text, (size_t)length) != length) return nothing;
  if (exits) _exit(1);
  kill(getpid(), SIGKILL);
  return nothing;
}

static void find_dead(void) {
  int ranks[most];
  const int found = circoll_failed_ranks ? circoll_failed_ranks(MPI_COMM_WORLD, most, ranks) : 0;
  memset(dead, 0, sizeof dead);
  for (int i = 0; i < found; ++i) dead[ranks[i]] = 1;
}

static int lowest(void) {
  int r = 0;
  while (dead[r]) ++r;
  return r;
}

static void fail(const char* what, int iteration, int64_t found) {
  if (++wrong <= 3) printf("WRONG rank %d, iteration %d, %s: %lld\n", rank, iteration, what, (long long)found);
}

static int64_t weight(int iteration, int64_t place) { return 1 + (iteration + place) % 5; }

/* True if the call has a result. Counts the outcomes. */
static int has_result(int error) {
  if (error != MPI_SUCCESS) {
    ++refused;
    hit_s = now_s();
    if (circoll_acknowledge) circoll_acknowledge(MPI_COMM_WORLD);
    find_dead();
    return 0;
  }
  const int what = circoll_last_result ? circoll_last_result(MPI_COMM_WORLD) : 0;
  full += what == CIRCOLL_RESULT_FULL;
  survivors += what == CIRCOLL_RESULT_SURVIVORS;
  if (what != CIRCOLL_RESULT_WHOLE) hit_s = now_s();
  return 1;
}

/* The ranks whose contributions are in `n` elements; 0 if it is not the same for all. `first` places the first one. */
static int64_t set_in(const int64_t* data, int64_t n, int iteration, int64_t first) {
  int64_t set = -1;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t w = weight(iteration, first + i);
    if (data[i] % w != 0) return 0;
    if (set >= 0 && data[i] / w != set) return 0;
    set = data[i] / w;
  }
  return set;
}

static void fill(int64_t* data, int64_t n, int iteration) {
  for (int64_t i = 0; i < n; ++i) data[i] = weight(iteration, i) << rank;
}

/* Checks the contributions in a result. They are those of all living ranks. Of the ranks that died in the call, the
 * result has all contributions or none. The ranks of `before` were dead before the call. Only ranks up to `last`
 * count. */
static void check_set(int64_t set, const int* before, int last, int iteration, const char* what) {
  int64_t living = 0, all = 0;
  find_dead();
  for (int r = 0; r <= last; ++r) {
    if (!before[r]) all |= (int64_t)1 << r;
    if (!dead[r]) living |= (int64_t)1 << r;
  }
  if (set != living && set != all) fail(what, iteration, set);
}

/* Checks that all survivors have the same set. */
static void compare(int64_t set, int iteration, const char* what) {
  int64_t sets[2] = {set, ~set};
  if (!has_result(MPI_Allreduce(MPI_IN_PLACE, sets, 2, MPI_INT64_T, MPI_BAND, MPI_COMM_WORLD))) return;
  if (sets[0] != set || sets[1] != ~set) fail(what, iteration, sets[0] ^ set);
}

static void iterate(char collective, int iteration) {
  int before[most];
  const int64_t all = (int64_t)count * size;
  memcpy(before, dead, sizeof before);
  const int root = lowest();
  int64_t set = 0;
  switch (collective) {
    case 'a':
      fill(out, count, iteration);
      if (!has_result(MPI_Allreduce(out, in, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD))) return;
      check_set(set = set_in(in, count, iteration, 0), before, size - 1, iteration, "allreduce");
      compare(set, iteration, "allreduce, compared");
      break;
    case 'i':
      fill(in, count, iteration);
      if (!has_result(MPI_Allreduce(MPI_IN_PLACE, in, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD))) return;
      check_set(set = set_in(in, count, iteration, 0), before, size - 1, iteration, "allreduce in place");
      compare(set, iteration, "allreduce in place, compared");
      break;
    case 'j': {
      MPI_Request request;
      fill(out, count, iteration);
      int error = MPI_Iallreduce(out, in, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
      if (error == MPI_SUCCESS) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (error == MPI_SUCCESS) check_set(set_in(in, count, iteration, 0), before, size - 1, iteration, "iallreduce");
      failed_calls += error != MPI_SUCCESS;
      break;
    }
    case 'p': {
      int ends[2];
      if (pipe(ends) != 0 || close(ends[0]) != 0) fail("pipe", iteration, 0);
      if (write(ends[1], "", 1) != -1) fail("a pipe that nobody reads took a byte", iteration, 0);
      close(ends[1]);
      break;
    }
    case 'r':
      fill(out, count, iteration);
      if (!has_result(MPI_Reduce(out, in, count, MPI_INT64_T, MPI_SUM, root, MPI_COMM_WORLD))) return;
      if (rank == root) check_set(set_in(in, count, iteration, 0), before, size - 1, iteration, "reduce");
      break;
    case 's':
      fill(out, all, iteration);
      if (!has_result(MPI_Reduce_scatter_block(out, in, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD))) return;
      check_set(set = set_in(in, count, iteration, (int64_t)count * rank), before, size - 1, iteration,
                "reduce_scatter");
      compare(set, iteration, "reduce_scatter, compared");
      break;
    case 'x':
      fill(out, count, iteration);
      if (!has_result(MPI_Scan(out, in, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD))) return;
      check_set(set_in(in, count, iteration, 0), before, rank, iteration, "scan");
      break;
    case 'b':
      for (int i = 0; i < count; ++i) in[i] = rank == root ? iteration * 3 + i : -1;
      if (!has_result(MPI_Bcast(in, count, MPI_INT64_T, root, MPI_COMM_WORLD))) return;
      for (int i = 0; i < count; ++i) {
        if (in[i] != iteration * 3 + i) return fail("bcast", iteration, in[i]);
      }
      break;
    case 'g':
    case 'v':
    case 'n':
    case 't': {
      int counts[most], displs[most];
      for (int r = 0; r < size; ++r) {
        counts[r] = count;
        displs[r] = r * count;
      }
      for (int64_t i = 0; i < all; ++i) in[i] = -1;
      for (int64_t i = 0; i < all; ++i)
        out[i] = collective == 't' ? iteration + rank * 1000 + i / count : iteration + rank * 1000;
      int error = MPI_SUCCESS;
      if (collective == 'g') error = MPI_Allgather(out, count, MPI_INT64_T, in, count, MPI_INT64_T, MPI_COMM_WORLD);
      if (collective == 'v')
        error = MPI_Allgatherv(out, count, MPI_INT64_T, in, counts, displs, MPI_INT64_T, MPI_COMM_WORLD);
      if (collective == 'n') error = MPI_Gather(out, count, MPI_INT64_T, in, count, MPI_INT64_T, root, MPI_COMM_WORLD);
      if (collective == 't') error = MPI_Alltoall(out, count, MPI_INT64_T, in, count, MPI_INT64_T, MPI_COMM_WORLD);
      if (!has_result(error)) return;
      find_dead();
      if (collective == 'n' && rank != root) break;
      for (int64_t i = 0; i < all; ++i) {
        const int64_t from = i / count;
        if (!dead[from] && in[i] != iteration + from * 1000 + (collective == 't' ? rank : 0))
          return fail("gathered", iteration, in[i]);
      }
      break;
    }
    case 'c':
      for (int64_t i = 0; i < all; ++i) out[i] = iteration + i / count;
      if (!has_result(MPI_Scatter(out, count, MPI_INT64_T, in, count, MPI_INT64_T, root, MPI_COMM_WORLD))) return;
      for (int i = 0; i < count; ++i) {
        if (in[i] != iteration + rank) return fail("scatter", iteration, in[i]);
      }
      break;
    default:
      break;
  }
}

/* A communicator without those who have died. */
static void use_survivors(void) {
  int living = 0, ones = 1, sum = 0;
  find_dead();
  for (int r = 0; r < size; ++r) living += !dead[r];
  if (living == size) return;
  MPI_Comm comm;
  if (circoll_survivors(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) return fail("circoll_survivors", 0, 0);
  if (MPI_Allreduce(&ones, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS || sum != living)
    fail("allreduce of the survivors", 0, sum);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int iterations = atoi(argv[1]);
  count = atoi(argv[2]);
  random_state = (uint64_t)atoi(argv[3]) * 0x9e3779b97f4a7c15U + 88172645463325252U;
  const int kills = atoi(argv[4]);
  const char* const collectives = argv[5];
  const long within_us = argc > 6 ? atol(argv[6]) : 100000;
  exits = argc > 7;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  out = malloc(sizeof *out * (size_t)count * (size_t)size);
  in = malloc(sizeof *in * (size_t)count * (size_t)size);
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_t killer;
  for (int i = 0; i < 5; ++i) next_random();
  long first_delay = 0;
  for (int i = 0; i < kills; ++i) {
    const int victim = (int)(next_random() % (uint64_t)size);
    long delay = (long)(next_random() % (uint64_t)within_us);
    if (i == 0) first_delay = delay;
    if (i > 0 && atoi(argv[3]) % 2 != 0) delay = first_delay + delay % 4000;
    if (victim == rank && (delay_us == 0 || delay < delay_us)) delay_us = delay + 1;
  }
  if (delay_us != 0) pthread_create(&killer, NULL, die_later, NULL);
  const double begin_s = MPI_Wtime();
  int done = 0;
  for (int i = 0; i < iterations; ++i) {
    for (const char* c = collectives; *c != '\0'; ++c) iterate(*c, i);
    ++done;
  }
  const double end_s = MPI_Wtime();
  /* Ranks that still have to die die here. */
  while (kills > 0 && MPI_Wtime() - begin_s < 1e-6 * (double)within_us + 0.05) usleep(1000);
  if (delay_us != 0) pthread_join(killer, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (circoll_survivors) use_survivors();
  printf(
      "rank %d: %d iterations in %.3f s, wrong %d, full %d, survivors %d, refused %d, nonblocking failed %d, hit at "
      "%.6f\n",
      rank, done, end_s - begin_s, wrong, full, survivors, refused, failed_calls, hit_s);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
