/* Nonblocking and persistent collectives, waited for in all of MPI's ways and mixed with messages. Prints a digest of
 * every result. Knows nothing of Circoll. With the argument "blocking" it makes the blocking calls instead, which must
 * print the same. Native nonblocking and persistent calls are no oracle: Open MPI 4.1 crashes if a communicator is
 * freed while they are pending, and MPICH 4.0 when it starts them again. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "forms.h"

enum { most = 64 };
static int blocking;

/* Makes a nonblocking call, or the blocking one where the program makes those instead. */
static void istart(struct Round* r, int k, MPI_Comm comm, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  call(blocking ? blocking_form : nonblocking_form, r, k, comm, request);
}

static void pinit(struct Round* r, int k, MPI_Comm comm, MPI_Request* request) {
  call(persistent_form, r, k, comm, request);
}

/* Waits until a request is complete, in one of MPI's ways. */
static void wait_by(int way, int n, MPI_Request* requests) {
  int i, flag = 0, done = 0, count, indices[most];
  MPI_Status statuses[most];
  switch (way) {
    case 0:
      for (i = n; i-- > 0;) MPI_Wait(&requests[i], &statuses[0]);
      break;
    case 1:
      MPI_Waitall(n, requests, statuses);
      break;
    case 2:
      for (i = 0; i < n; ++i) MPI_Waitany(n, requests, &flag, MPI_STATUS_IGNORE);
      break;
    case 3:
      while (done < n) {
        MPI_Waitsome(n, requests, &count, indices, statuses);
        if (count == MPI_UNDEFINED) break;
        done += count;
      }
      break;
    case 4:
      for (i = 0; i < n; ++i) {
        for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
      }
      break;
    case 5:
      while (!flag) MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE);
      break;
    case 6:
      while (done < n) {
        MPI_Testany(n, requests, &i, &flag, MPI_STATUS_IGNORE);
        if (flag && i == MPI_UNDEFINED) break;
        done += flag;
      }
      break;
    case 7:
      while (done < n) {
        MPI_Testsome(n, requests, &count, indices, MPI_STATUSES_IGNORE);
        if (count == MPI_UNDEFINED) break;
        done += count;
      }
      break;
    default:
      for (i = 0; i < n; ++i) {
        for (flag = 0; !flag;) MPI_Request_get_status(requests[i], &flag, &statuses[0]);
      }
      MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
      break;
  }
}
enum { ways = 9 };

/* Makes each form by itself, and all of them at once in each way of waiting. */
static void one_by_one(int n) {
  struct Round r;
  MPI_Request request;
  int k;
  make(&r, n, 7);
  for (k = 0; k < forms; ++k) {
    istart(&r, k, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    finish(&r, "alone", k);
  }
  drop(&r);
}

static void together(int n, int way) {
  struct Round r;
  MPI_Request requests[most];
  MPI_Comm other;
  int k, token = rank, left = -1, count = 0;
  char how[32];
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  make(&r, n, way);
  /* Native and null requests are among them. There are two communicators, and one is freed before any request is
   * complete. */
  MPI_Irecv(&left, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &requests[count++]);
  for (k = 0; k < forms; ++k) istart(&r, k, k % 3 == 0 ? other : MPI_COMM_WORLD, &requests[count++]);
  requests[count++] = MPI_REQUEST_NULL;
  MPI_Isend(&token, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &requests[count++]);
  MPI_Comm_free(&other);
  wait_by(way, count, requests);
  snprintf(how, sizeof how, "way %d", way);
  for (k = 0; k < forms; ++k) finish(&r, how, k);
  report("message", &left, sizeof left);
  drop(&r);
}

/* A nonblocking call does not wait for other ranks, even if it is the first one on its communicator: the others first
 * need a message that is sent after the call. */
static void first_call(MPI_Comm comm, const char* what) {
  MPI_Request request = MPI_REQUEST_NULL;
  int sum = 0, token = 1, i;
  if (rank == 0 && !blocking) MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  for (i = 1; i < size && rank == 0; ++i) MPI_Send(&token, 1, MPI_INT, i, 2, MPI_COMM_WORLD);
  if (rank != 0) MPI_Recv(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (blocking) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  } else if (rank != 0) {
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  report(what, &sum, sizeof sum);
}

static void first_calls(void) {
  MPI_Comm made[5];
  int periods = 0, i;
  first_call(MPI_COMM_WORLD, "first call: world");
  MPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made[1]);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &made[2]);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made[3]);
  MPI_Comm_dup(made[2], &made[4]);
  for (i = 0; i < 5; ++i) {
    first_call(made[i], "first call: a new communicator");
    MPI_Comm_free(&made[i]);
  }
}

/* Many requests in one test, persistent ones first. */
static void crowd(void) {
  enum { persistent = 70, all = 75 };
  MPI_Request requests[all];
  int sums[all], i, flag;
  for (i = 0; i < all; ++i) {
    sums[i] = -1;
    if (blocking) {
      MPI_Allreduce(&rank, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (i < persistent) {
      PERSISTENT(Allreduce)(&rank, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    }
  }
  if (!blocking) MPI_Startall(persistent, requests);
  for (i = persistent; i < all && !blocking; ++i) {
    MPI_Iallreduce(&rank, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  }
  for (flag = blocking; !flag;) MPI_Testall(all, requests, &flag, MPI_STATUSES_IGNORE);
  report("crowd", sums, sizeof sums);
  for (i = 0; i < persistent && !blocking; ++i) MPI_Request_free(&requests[i]);
}

/* Many operations outstanding on one communicator; blocking calls and messages meanwhile, on it and on others. */
static void outstanding(void) {
  enum { many = 300 };
  MPI_Request requests[many];
  long long in[many], out[many], blocking = 0, got = 0;
  int i;
  for (i = 0; i < many; ++i) {
    in[i] = (long long)rank * 1000 + i;
    MPI_Iallreduce(&in[i], &out[i], 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    if (i % 50 == 25) {
      MPI_Allreduce(&in[i], &blocking, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
      MPI_Sendrecv(&in[i], 1, MPI_LONG_LONG, (rank + 1) % size, 3, &got, 1, MPI_LONG_LONG, (rank + size - 1) % size, 3,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
  report("outstanding", out, sizeof out);
  report("blocking meanwhile", &blocking, sizeof blocking);
  report("message meanwhile", &got, sizeof got);
}

/* One rank waits for something else than the operation, which another rank needs. Progress must come from any MPI
 * call. */
static void progress(void) {
  MPI_Request request;
  MPI_Comm dup;
  MPI_Status status;
  int big[20000], sum[20000], i, token = 0;
  for (i = 0; i < 20000; ++i) big[i] = rank + i;
  MPI_Iallreduce(big, sum, 20000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank == 0) {
    for (i = 1; i < size; ++i) MPI_Recv(&token, 1, MPI_INT, i, 9, MPI_COMM_WORLD, &status); /* sent after their wait */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
  }
  report("progress in MPI_Recv", sum, sizeof sum);
  memset(sum, 0, sizeof sum);
  MPI_Iallreduce(big, sum, 20000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank == 0) MPI_Comm_dup(MPI_COMM_WORLD, &dup); /* a native collective that the others enter after their wait */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank != 0) MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_free(&dup);
  report("progress in MPI_Comm_dup", sum, sizeof sum);
  memset(sum, 0, sizeof sum);
  MPI_Iallreduce(big, sum, 20000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank == 0) {
    for (i = 1; i < size; ++i)
      MPI_Probe(i, 11, MPI_COMM_WORLD, &status), MPI_Recv(&token, 1, MPI_INT, i, 11, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(&token, 1, MPI_INT, 0, 11, MPI_COMM_WORLD);
  }
  report("progress in MPI_Probe", sum, sizeof sum);
}

static void twice_plus(void* in, void* inout, int* n, MPI_Datatype* type) {
  int i;
  (void)type;
  for (i = 0; i < *n; ++i) ((int*)inout)[2 * i] += ((int*)in)[2 * i];
}

/* Datatypes and operators are freed as soon as the call has returned. */
static void freed(void) {
  MPI_Datatype gaps, column;
  MPI_Op op;
  MPI_Request requests[3];
  int in[16], out[16], matrix[30], all[64 * 16], i;
  memset(all, 0, sizeof all);
  for (i = 0; i < 16; ++i) in[i] = rank + i, out[i] = -1;
  for (i = 0; i < 30; ++i) matrix[i] = rank == 0 ? i : -1;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gaps);
  MPI_Type_commit(&gaps);
  MPI_Op_create(twice_plus, 1, &op);
  MPI_Iallreduce(in, out, 8, gaps, op, MPI_COMM_WORLD, &requests[0]);
  MPI_Op_free(&op);
  MPI_Type_vector(5, 1, 6, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Ibcast(matrix + 2, 1, column, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Type_free(&column);
  if (size <= 64) {
    MPI_Iallgather(in, 8, gaps, all, 8, MPI_INT, MPI_COMM_WORLD, &requests[2]);
  } else {
    requests[2] = MPI_REQUEST_NULL;
  }
  MPI_Type_free(&gaps);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  report("operator freed", out, sizeof out);
  report("datatype freed", matrix, sizeof matrix);
  report("datatype freed, packed", all, sizeof all);
  if (op != MPI_OP_NULL || gaps != MPI_DATATYPE_NULL) printf("a handle was not reset\n");
}

/* Persistent requests: started several times, some at once, in several ways; freed. */
static void persistent(int n) {
  struct Round r;
  MPI_Request requests[forms];
  int k, again, flag;
  char how[32];
  make(&r, n, 3);
  for (k = 0; k < forms && !blocking; ++k) pinit(&r, k, MPI_COMM_WORLD, &requests[k]);
  for (again = 0; again < 3; ++again) {
    for (k = 0; k < n * size; ++k) r.in[k] += again;
    if (rank != size / 2) memset(r.out[14], 0, sizeof(int) * (size_t)n);
    if (blocking) {
      for (k = 0; k < forms; ++k) call(blocking_form, &r, k, MPI_COMM_WORLD, NULL);
    } else if (again == 1) {
      for (k = 0; k < forms; ++k) MPI_Start(&requests[k]);
    } else {
      MPI_Startall(forms, requests);
    }
    if (!blocking && again == 2) {
      for (flag = 0; !flag;) MPI_Testall(forms, requests, &flag, MPI_STATUSES_IGNORE);
    } else if (!blocking) {
      wait_by(again == 0 ? 1 : 0, forms, requests);
    }
    snprintf(how, sizeof how, "persistent %d", again);
    for (k = 0; k < forms; ++k) finish(&r, how, k);
  }
  for (k = 0; k < forms && !blocking; ++k) {
    MPI_Request_free(&requests[k]);
    if (requests[k] != MPI_REQUEST_NULL) printf("a request was not reset\n");
  }
  drop(&r);
}

/* Ranks may start persistent requests in different orders, and in another order than that of their making. One of them
 * is older than thousands that have come and gone. */
static void own_order(MPI_Comm comm) {
  int gone = 2500;
  struct Round r, old;
  MPI_Request requests[forms + 1], request;
  int k, i, turn;
  char how[32];
#ifdef OPEN_MPI
  gone = 17000; /* more than 2^14, where that takes no time */
#endif
  make(&r, 700, 5);
  make(&old, 30, 6);
  if (!blocking) pinit(&old, 0, comm, &requests[forms]);
  for (i = 0; i < gone && !blocking; ++i) {
    pinit(&r, i % 50 == 0 ? i / 50 % forms : 16, comm, &request);
    MPI_Request_free(&request);
  }
  for (k = 0; k < forms && !blocking; ++k) pinit(&r, k, comm, &requests[k]);
  for (turn = 0; turn < 4; ++turn) {
    for (k = 0; k < r.n * size; ++k) r.in[k] += turn;
    if (rank != size / 2) memset(r.out[14], 0, sizeof(int) * (size_t)r.n);
    for (k = 0; k <= forms; ++k) {
      i = ((rank + turn) % 2 == 0 ? k : forms - k) + rank * 5;
      i %= forms + 1;
      if (!blocking) {
        MPI_Start(&requests[i]);
      } else {
        call(blocking_form, k < forms ? &r : &old, k % forms, comm, NULL);
      }
    }
    if (!blocking) wait_by(turn, forms + 1, requests);
    snprintf(how, sizeof how, "own order %d", turn);
    for (k = 0; k < forms; ++k) finish(&r, how, k);
    finish(&old, "old", 0);
  }
  for (k = 0; k <= forms && !blocking; ++k) MPI_Request_free(&requests[k]);
  drop(&r);
  drop(&old);
}

/* The same call again and again with other buffers, in place and not, one after another and many at once. */
static void repeated(void) {
  enum { many = 20, n = 40 };
  int in[many][n], out[many][n], all[64][n], i, k, turn;
  MPI_Request requests[many];
  for (turn = 0; turn < 6; ++turn) {
    for (i = 0; i < many; ++i) {
      for (k = 0; k < n; ++k) in[i][k] = rank + i * k + turn, out[i][k] = turn % 2 == 0 ? -1 : in[i][k];
    }
    for (i = 0; i < many; ++i) {
      const void* from = turn % 2 == 0 ? in[i] : MPI_IN_PLACE;
      if (blocking) {
        MPI_Allreduce(from, out[i], i % 3 == 0 ? n : n / 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      } else {
        MPI_Iallreduce(from, out[i], i % 3 == 0 ? n : n / 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
        if (turn > 3) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      }
    }
    if (!blocking) MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    report("repeated allreduce", out, sizeof out);
    memset(all, 0, sizeof all);
    for (i = 0; i < many && size <= 64; ++i) {
      if (blocking) {
        MPI_Allgather(in[i], n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD);
      } else {
        MPI_Iallgather(in[i], n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      }
      report("repeated allgather", all, sizeof all);
      /* The buffers are the same, but now the contribution is in place. */
      for (k = 0; k < n; ++k) all[rank][k] = rank - k;
      if (blocking) {
        MPI_Allgather(MPI_IN_PLACE, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD);
      } else {
        MPI_Iallgather(MPI_IN_PLACE, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      }
      report("repeated allgather, in place", all, sizeof all);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Comm dup;
  int way;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  blocking = argc > 1 && strcmp(argv[1], "blocking") == 0;
  first_calls();
  one_by_one(1);
  one_by_one(1000);
  for (way = 0; way < ways; ++way) together(way % 2 == 0 ? 10 : 3000, way);
  outstanding();
  if (size > 1) progress();
  freed();
  persistent(5);
  persistent(2000);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  own_order(dup);
  MPI_Comm_free(&dup);
  repeated();
  crowd();
  MPI_Finalize();
  return 0;
}
