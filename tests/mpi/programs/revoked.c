/* revoked blocking|nonblocking|persistent COUNT ROUNDS revoke|kill: the last rank leaves the others in a collective. It
 * revokes the communicator, or dies. All calls of the others end with an error of that kind, of which the error handler
 * hears. Calls on the communicator of the survivors are right, and so are calls that were under way on another
 * communicator. Ends with 1 if anything is wrong. Knows nothing of Circoll. */
#include <mpi.h>
/* This header needs mpi.h before it. */
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTSTANDING = 3, COLLECTIVES = 5, MOST_RANKS = 64 };
static const char* const names[COLLECTIVES] = {"allreduce", "bcast", "alltoall", "allgather", "barrier"};
enum Way { BLOCKING, NONBLOCKING, PERSISTENT };

static enum Way way;
static int dies; /* instead of revoking */
static int rank, failed;
static int heard_calls, heard_error;

static void fail(const char* collective, const char* what, int value) {
  printf("rank %d: %s: %s (%d)\n", rank, collective, what, value);
  fflush(stdout);
  failed = 1;
}

static void on_error(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  ++heard_calls;
  heard_error = *error;
}

static int class_of(int error) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(error, &error_class);
  return error_class;
}

/* After a death others may have revoked the communicator, too. */
static int is_expected(int error) {
  return class_of(error) == MPIX_ERR_REVOKED || (dies && class_of(error) == MPIX_ERR_PROC_FAILED);
}

/* One call: `out` gets what the ranks have in `in`. The root of a broadcast is the last rank. */
struct Call {
  int which, count, size, root;
  const int* in;
  int* out;
  MPI_Comm comm;
};

static int call(const struct Call* c) {
  switch (c->which) {
    case 0:
      return MPI_Allreduce(c->in, c->out, c->count, MPI_INT, MPI_SUM, c->comm);
    case 1:
      return MPI_Bcast(c->out, c->count, MPI_INT, c->root, c->comm);
    case 2:
      return MPI_Alltoall(c->in, c->count, MPI_INT, c->out, c->count, MPI_INT, c->comm);
    case 3:
      return MPI_Allgather(c->in, c->count, MPI_INT, c->out, c->count, MPI_INT, c->comm);
    default:
      return MPI_Barrier(c->comm);
  }
}

static int start(const struct Call* c, MPI_Request* request) {
  switch (c->which) {
    case 0:
      return MPI_Iallreduce(c->in, c->out, c->count, MPI_INT, MPI_SUM, c->comm, request);
    case 1:
      return MPI_Ibcast(c->out, c->count, MPI_INT, c->root, c->comm, request);
    case 2:
      return MPI_Ialltoall(c->in, c->count, MPI_INT, c->out, c->count, MPI_INT, c->comm, request);
    case 3:
      return MPI_Iallgather(c->in, c->count, MPI_INT, c->out, c->count, MPI_INT, c->comm, request);
    default:
      return MPI_Ibarrier(c->comm, request);
  }
}

static int init(const struct Call* c, MPI_Request* request) {
  const MPI_Info info = MPI_INFO_NULL;
  switch (c->which) {
    case 0:
      return MPI_Allreduce_init(c->in, c->out, c->count, MPI_INT, MPI_SUM, c->comm, info, request);
    case 1:
      return MPI_Bcast_init(c->out, c->count, MPI_INT, c->root, c->comm, info, request);
    case 2:
      return MPI_Alltoall_init(c->in, c->count, MPI_INT, c->out, c->count, MPI_INT, c->comm, info, request);
    case 3:
      return MPI_Allgather_init(c->in, c->count, MPI_INT, c->out, c->count, MPI_INT, c->comm, info, request);
    default:
      return MPI_Barrier_init(c->comm, info, request);
  }
}

static void fill(const struct Call* c, int* in, int value) {
  for (int i = 0; i < c->count * c->size; ++i) {
    in[i] = value + rank;
    c->out[i] = c->which == 1 ? value + rank : -1;
  }
}

/* `sources` is the rank in MPI_COMM_WORLD of each rank of the communicator. */
static void check(const struct Call* c, int value, const int* sources) {
  int sum = 0;
  for (int r = 0; r < c->size; ++r) sum += value + sources[r];
  const int blocks = c->which == 2 || c->which == 3 ? c->size : c->which == 4 ? 0 : 1;
  for (int i = 0; i < blocks * c->count; ++i) {
    const int source = c->which == 1 ? c->root : i / c->count;
    const int expected = c->which == 0 ? sum : value + sources[source];
    if (c->out[i] != expected) return fail(names[c->which], "a wrong result", c->out[i]);
  }
}

static void ranks_in_world(MPI_Comm comm, int size, int* sources) {
  MPI_Group group, world;
  int own[MOST_RANKS];
  for (int i = 0; i < size; ++i) own[i] = i;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, size, own, world, sources);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

/* Makes right calls, with values that no call had before. */
static void go_on(struct Call c, int* in, int value) {
  int sources[MOST_RANKS];
  ranks_in_world(c.comm, c.size, sources);
  MPI_Request request = MPI_REQUEST_NULL;
  if (way == PERSISTENT && init(&c, &request) != MPI_SUCCESS) fail(names[c.which], "no persistent request", 0);
  for (int i = 0; i < 3; ++i, value += 1000) {
    fill(&c, in, value);
    int error = MPI_SUCCESS;
    if (way == BLOCKING) error = call(&c);
    if (way == NONBLOCKING) error = start(&c, &request);
    if (way == PERSISTENT) error = MPI_Start(&request);
    if (error == MPI_SUCCESS && way != BLOCKING) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return fail(names[c.which], "an error where nothing is wrong", error);
    check(&c, value, sources);
  }
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

/* Waits in calls that the last rank does not make. Persistent requests exist already. */
static void wait_in_vain(struct Call c, MPI_Request* requests) {
  heard_calls = 0;
  int expected_calls = 1;
  if (way == BLOCKING) {
    const int error = call(&c);
    if (!is_expected(error)) fail(names[c.which], "the call returns another error", error);
    if (error != heard_error) fail(names[c.which], "the error handler heard of another error", heard_error);
  } else {
    int* const memory = c.out;
    int errors[OUTSTANDING];
    expected_calls = OUTSTANDING;
    for (int i = 0; i < OUTSTANDING; ++i) {
      c.out = memory + i * c.count * c.size;
      errors[i] = way == PERSISTENT ? MPI_Start(&requests[i]) : start(&c, &requests[i]);
    }
    for (int i = 0; i < OUTSTANDING; ++i) {
      /* If this rank is so late that it has heard of the failure already, the operation has not begun. */
      const int error = errors[i] != MPI_SUCCESS ? errors[i] : MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      if (!is_expected(error)) fail(names[c.which], "it ends with another error", error);
    }
    if (!is_expected(heard_error)) fail(names[c.which], "the error handler heard of another error", heard_error);
  }
  if (heard_calls != expected_calls) fail(names[c.which], "the error handler was called so often", heard_calls);
  if (way != PERSISTENT) return;
  /* One request is started too late. */
  int error = MPI_Start(&requests[OUTSTANDING]);
  if (error == MPI_SUCCESS) error = MPI_Wait(&requests[OUTSTANDING], MPI_STATUS_IGNORE);
  if (!is_expected(error)) fail(names[c.which], "one started later returns another error", error);
}

/* Persistent messages to ourselves: their requests may have the handles of those that have failed. */
static void send_to_self(void) {
  MPI_Request requests[4 * OUTSTANDING];
  int sent[2 * OUTSTANDING], received[2 * OUTSTANDING];
  for (int i = 0; i < 2 * OUTSTANDING; ++i) {
    sent[i] = i;
    received[i] = -1;
    MPI_Recv_init(&received[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i]);
    MPI_Send_init(&sent[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i + 1]);
  }
  MPI_Startall(4 * OUTSTANDING, requests);
  MPI_Waitall(4 * OUTSTANDING, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 4 * OUTSTANDING; ++i) MPI_Request_free(&requests[i]);
  for (int i = 0; i < 2 * OUTSTANDING; ++i)
    if (received[i] != i) fail("messages", "a wrong one", received[i]);
}

/* The last rank leaves the others alone in `c`. Then all that are left go on without the communicator. */
static void leave_and_go_on(struct Call c, int* in, int value, int last) {
  MPI_Request requests[OUTSTANDING + 1];
  int* const memory = c.out;
  for (int i = 0; i <= OUTSTANDING; ++i) {
    requests[i] = MPI_REQUEST_NULL;
    c.out = memory + i * c.count * c.size;
    if (way == PERSISTENT) init(&c, &requests[i]);
  }
  c.out = memory;
  fill(&c, in, value);
  if (last) {
    usleep(20000);
    if (dies) raise(SIGKILL);
    MPIX_Comm_revoke(c.comm);
  } else {
    wait_in_vain(c, requests);
    if (dies) MPIX_Comm_revoke(c.comm);
  }
  for (int i = 0; i <= OUTSTANDING; ++i)
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
  send_to_self();

  /* From now on every call is refused. */
  for (int revoked = 0; !revoked; usleep(100)) MPIX_Comm_is_revoked(c.comm, &revoked);
  const int error = call(&c);
  if (class_of(error) != MPIX_ERR_REVOKED) fail(names[c.which], "a later call returns another error", error);

  MPI_Comm survivors;
  const int expected_size = c.size - dies;
  if (MPIX_Comm_shrink(c.comm, &survivors) != MPI_SUCCESS) return fail(names[c.which], "nothing is left", 0);
  MPI_Comm_free(&c.comm);
  MPI_Comm_size(survivors, &c.size);
  if (c.size != expected_size) fail(names[c.which], "so many ranks survive", c.size);
  c.comm = survivors;
  c.root = c.size - 1;
  for (c.which = 0; c.which < COLLECTIVES; ++c.which) go_on(c, in, value + 10000 * (c.which + 1));
  MPI_Comm_free(&survivors);
}

int main(int argc, char** argv) {
  int world = 1, value = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  if (argc != 5 || world > MOST_RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
  way = !strcmp(argv[1], "blocking") ? BLOCKING : !strcmp(argv[1], "persistent") ? PERSISTENT : NONBLOCKING;
  dies = !strcmp(argv[4], "kill");
  const int count = atoi(argv[2]), last = rank == world - 1;
  int* const in = malloc((size_t)count * (size_t)world * sizeof(int));
  int* const out = malloc((size_t)count * (size_t)world * (OUTSTANDING + 1) * sizeof(int));
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  for (int round = 0; round < atoi(argv[3]); ++round) {
    for (int which = 0; which < COLLECTIVES; ++which, value += 100000) {
      struct Call c = {which, count, world, world - 1, in, out, MPI_COMM_NULL};
      MPI_Comm_dup(MPI_COMM_WORLD, &c.comm);
      MPI_Comm_set_errhandler(c.comm, handler);
      go_on(c, in, value);
      if (dies && which < COLLECTIVES - 1) {
        MPI_Comm_free(&c.comm);
        continue;
      }
      int sum = 0;
      MPI_Request request = MPI_REQUEST_NULL;
      if (!dies) MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other, &request);
      leave_and_go_on(c, in, value + 9000, last);
      if (!dies && (MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS || sum != world * (world - 1) / 2))
        fail(names[which], "a call on another communicator", sum);
    }
    if (dies) break;
  }
  MPI_Errhandler_free(&handler);
  free(in);
  free(out);
  if (!failed) printf("rank %d: right\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return failed;
}
