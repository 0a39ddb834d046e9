/* Faults that MPI libraries have by themselves, one a run. The program only calls MPI and knows nothing of Circoll. If
 * the library does it right, rank 0 prints "right" and the program ends with 0. library_faults_test.py knows the
 * versions that do it wrong.
 *   library_faults THING */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static int error_class(int rc) {
  int class = MPI_SUCCESS;
  if (rc != MPI_SUCCESS) MPI_Error_class(rc, &class);
  return class;
}

static int handled;

static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

/* A communicator that is freed while a nonblocking collective is pending on it. */
static int freed_communicator(void) {
  MPI_Comm comm;
  MPI_Request requests[4];
  int in = 1, sums[4], turn, i, right = 1;
  for (turn = 0; turn < 20; ++turn) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (i = 0; i < 4; ++i) MPI_Iallreduce(&in, &sums[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
    MPI_Comm_free(&comm);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (i = 0; i < 4; ++i) right = right && sums[i] == size;
  }
  return right;
}

/* The call must return an error. */
static int no_type_in_reduction(void) {
  int in = 1, out = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return MPI_Allreduce(&in, &out, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS;
}

static int negative_count_in_reduction(void) {
  int in = 1, out = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return MPI_Allreduce(&in, &out, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS;
}

/* The error of a call is returned after the user's handler, too. */
static int error_after_handler(void) {
  MPI_Errhandler mine;
  int x = 0, rc;
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
  rc = MPI_Bcast(&x, 1, MPI_INT, -7, MPI_COMM_WORLD);
  return handled == 1 && error_class(rc) == MPI_ERR_ROOT;
}

/* A persistent collective sends what its buffer holds when it is started. */
static int persistent_gather(void) {
#if MPI_VERSION >= 4
  int in = -1, out[16] = {0};
  MPI_Request request;
  MPI_Gather_init(&in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  in = 1;
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  return rank != 0 || out[0] == 1;
#else
  return 1;
#endif
}

/* Processes are spawned. */
static int spawn(const char* program) {
  char copy[4096], thing[] = "child";
  char* arguments[] = {thing, NULL};
  MPI_Comm inter;
  int codes[1], sum = 0, one = 1;
  snprintf(copy, sizeof copy, "%s", program);
  MPI_Comm_spawn(copy, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
  MPI_Comm_disconnect(&inter);
  return sum == 1;
}

static int child(void) {
  MPI_Comm inter;
  int sum = 0, one = 1;
  MPI_Comm_get_parent(&inter);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
  MPI_Comm_disconnect(&inter);
  return 1;
}

/* MPI_Finalize with a long message that was never received. That is erroneous, but no reason to crash after the
 * results. */
static int left_message(void) {
  enum { length = 1 << 20 };
  char* const data = calloc(length, 1); /* not freed */
  MPI_Request request;
  MPI_Isend(data, length, MPI_CHAR, (rank + 1) % size, 1, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  return 1;
}

/* Threads of three ranks make communicators at the same time: a group of ranks 0 and 2, one of 0 and 1, and a duplicate
 * of that of 1 and 2. In the order of all ranks every thread can end, if the making of each communicator advances by
 * itself. */
static MPI_Comm last_two = MPI_COMM_NULL;

static void make_pair(int other, int tag) {
  MPI_Group world, pair;
  MPI_Comm made;
  const int ranks[2] = {rank < other ? rank : other, rank < other ? other : rank};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, ranks, &pair);
  MPI_Comm_create_group(MPI_COMM_WORLD, pair, tag, &made);
  MPI_Comm_free(&made);
  MPI_Group_free(&pair);
  MPI_Group_free(&world);
}

static void duplicate_last_two(void) {
  MPI_Comm made;
  MPI_Comm_dup(last_two, &made);
  MPI_Comm_free(&made);
}

static void* other_thread(void* unused) {
  if (rank == 0) {
    usleep(300000); /* after the other thread has begun */
    make_pair(1, 2);
  }
  if (rank == 1) make_pair(0, 2);
  return unused;
}

static void main_thread(void) {
  if (rank == 0) make_pair(2, 1);
  if (rank == 1) {
    usleep(300000);
    duplicate_last_two();
  }
  if (rank == 2) {
    duplicate_last_two();
    make_pair(0, 1);
  }
}

/* Rank 2 makes a group of a higher tag before a group of a lower tag. The others' main threads make a group in
 * between. */
static void* maker_of_two(void* unused) {
  if (rank == 0) make_pair(2, 2);
  if (rank == 1) {
    usleep(200000);
    make_pair(2, 8);
  }
  if (rank == 2) {
    usleep(400000);
    make_pair(1, 8);
    make_pair(0, 2);
  }
  return unused;
}

static void maker_between(void) {
  if (rank == 0) usleep(100000); /* after the other thread has begun */
  if (rank < 2) make_pair(1 - rank, 3);
}

/* On three ranks, beside the main thread. */
static int two_threads(void* (*other)(void*), void (*mine)(void)) {
  pthread_t thread;
  int provided;
  MPI_Query_thread(&provided);
  if (provided != MPI_THREAD_MULTIPLE || size != 3) return 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, 0, &last_two);
  pthread_create(&thread, NULL, other, NULL);
  mine();
  pthread_join(thread, NULL);
  return 1;
}

int main(int argc, char** argv) {
  const char* const thing = argc > 1 ? argv[1] : "";
  int mine = 0, all = 0, provided = MPI_THREAD_SINGLE;
  const int groups = strcmp(thing, "groups_of_threads") == 0;
  const int threads = groups || strcmp(thing, "communicators_of_threads") == 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(thing, "nothing") == 0 || strcmp(thing, "commands") == 0)
    mine = 1; /* the latter are the launcher's to start */
  if (strcmp(thing, "freed_communicator") == 0) mine = freed_communicator();
  if (strcmp(thing, "no_type_in_reduction") == 0) mine = no_type_in_reduction();
  if (strcmp(thing, "negative_count_in_reduction") == 0) mine = negative_count_in_reduction();
  if (strcmp(thing, "error_after_handler") == 0) mine = error_after_handler();
  if (strcmp(thing, "persistent_gather") == 0) mine = persistent_gather();
  if (strcmp(thing, "spawn") == 0) mine = spawn(argv[0]);
  if (strcmp(thing, "child") == 0) mine = child();
  if (strcmp(thing, "left_message") == 0) mine = left_message();
  if (threads) mine = groups ? two_threads(maker_of_two, maker_between) : two_threads(other_thread, main_thread);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0 && strcmp(thing, "child") != 0) puts(all ? "right" : "wrong");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
