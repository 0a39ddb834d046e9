/* netbed_probe BYTES: dev/netbed compiles this program and verifies its network by it.
 *
 * Rank 0 prints one "name value" per line. The first values are the numbers of ranks that MPI thinks a host has (least
 * and most). Then come latencies and bandwidths: of a ping-pong between two hosts, and of both directions at once (the
 * sum). Then all hosts send to the next one and receive at once (of one host, one direction). The last ones are within
 * a host, where it has two ranks. BYTES is the size of a large message. All values are medians, in microseconds and
 * bytes per second. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { tag = 1, small_repetitions = 201, large_repetitions = 5, chunk = 32768 };

static int compare(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare);
  return values[count / 2];
}

/* Waits for all without taking the processor from those that measure. */
static void line_up_asleep(MPI_Comm comm) {
  MPI_Request request;
  MPI_Ibarrier(comm, &request);
  for (int done = 0; !done;) {
    const struct timespec pause = {0, 1000000};
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) nanosleep(&pause, NULL);
  }
}

/* Seconds from rank 0 of `comm` to rank 1 and back, of `there` and `back` bytes. */
static double ping_pong(MPI_Comm comm, char* data, int there, int back, int repetitions) {
  double seconds[small_repetitions];
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int i = -1; i < repetitions; ++i) { /* the first one connects */
    const double begin = MPI_Wtime();
    if (rank == 0) {
      MPI_Send(data, there, MPI_BYTE, 1, tag, comm);
      MPI_Recv(data, back, MPI_BYTE, 1, tag, comm, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(data, there, MPI_BYTE, 0, tag, comm, MPI_STATUS_IGNORE);
      MPI_Send(data, back, MPI_BYTE, 0, tag, comm);
    }
    if (i >= 0) seconds[i] = MPI_Wtime() - begin;
  }
  return median(seconds, repetitions);
}

/* Seconds in which every rank of `comm` sends `bytes` to the next one and receives as many. It is the median of the
 * slowest rank, and the least in `best`. The messages have a size that needs no handshake, and go all at once. The
 * answer to a handshake may wait behind a large message that goes the same way. Then one direction comes after the
 * other, whatever the network can do. */
static double ring(MPI_Comm comm, char* send, char* receive, int bytes, double* best) {
  double seconds[large_repetitions];
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int messages = (bytes + chunk - 1) / chunk;
  MPI_Request* const requests = malloc(2 * (size_t)messages * sizeof *requests);
  if (requests == NULL) MPI_Abort(comm, 1);
  for (int i = -1; i < large_repetitions; ++i) {
    for (int k = 0; k < messages; ++k) {
      MPI_Irecv(receive + (size_t)k * chunk, k + 1 < messages ? chunk : bytes - k * chunk, MPI_BYTE,
                (rank + size - 1) % size, tag, comm, &requests[k]);
    }
    MPI_Barrier(comm);
    const double begin = MPI_Wtime();
    for (int k = 0; k < messages; ++k) {
      MPI_Isend(send + (size_t)k * chunk, k + 1 < messages ? chunk : bytes - k * chunk, MPI_BYTE, (rank + 1) % size,
                tag, comm, &requests[messages + k]);
    }
    MPI_Waitall(2 * messages, requests, MPI_STATUSES_IGNORE);
    const double own = MPI_Wtime() - begin;
    double slowest;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
    if (i >= 0) seconds[i] = slowest;
  }
  free(requests);
  const double result = median(seconds, large_repetitions);
  *best = seconds[0];
  return result;
}

static void measure_pair(MPI_Comm comm, const char* where, char* data, int bytes) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  const double small = ping_pong(comm, data, 1, 1, small_repetitions) / 2;
  const double large = ping_pong(comm, data, bytes, 1, large_repetitions) - small;
  if (rank == 0) printf("%slatency_us %.2f\n%sbandwidth %.0f\n", where, small * 1e6, where, bytes / large);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int bytes = argc > 1 ? atoi(argv[1]) : 1 << 20;
  char* const send = calloc((size_t)bytes, 1);
  char* const receive = calloc((size_t)bytes, 1);
  if (bytes < 1 || send == NULL || receive == NULL) MPI_Abort(MPI_COMM_WORLD, 1);

  int rank, node_rank, node_size, least, most;
  double best;
  MPI_Comm node, leaders, pair;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &node_rank);
  MPI_Comm_size(node, &node_size);
  MPI_Allreduce(&node_size, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&node_size, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("least_ranks_of_a_host %d\nmost_ranks_of_a_host %d\n", least, most);

  MPI_Comm_split(MPI_COMM_WORLD, node_rank == 0 ? 0 : MPI_UNDEFINED, 0, &leaders);
  int leader = -1, hosts = 0;
  if (leaders != MPI_COMM_NULL) {
    MPI_Comm_rank(leaders, &leader);
    MPI_Comm_size(leaders, &hosts);
  }
  MPI_Comm_split(MPI_COMM_WORLD, leader == 0 || leader == 1 ? 0 : MPI_UNDEFINED, 0, &pair);
  if (pair != MPI_COMM_NULL && hosts > 1) {
    measure_pair(pair, "", send, bytes);
    ring(pair, send, receive, bytes, &best);
    if (rank == 0) printf("both_directions %.0f\n", 2.0 * bytes / best);
  }
  line_up_asleep(MPI_COMM_WORLD);
  if (leaders != MPI_COMM_NULL && hosts > 1) {
    const double typical = ring(leaders, send, receive, bytes, &best);
    if (rank == 0) printf("all_hosts_bandwidth %.0f\nall_hosts_best_bandwidth %.0f\n", bytes / typical, bytes / best);
  }
  line_up_asleep(MPI_COMM_WORLD);
  MPI_Comm neighbours;
  int world_leader = rank;
  MPI_Bcast(&world_leader, 1, MPI_INT, 0, node);
  MPI_Comm_split(MPI_COMM_WORLD, world_leader == 0 && node_rank < 2 ? 0 : MPI_UNDEFINED, node_rank, &neighbours);
  if (neighbours != MPI_COMM_NULL && node_size > 1) measure_pair(neighbours, "within_a_host_", send, bytes);
  line_up_asleep(MPI_COMM_WORLD);
  MPI_Finalize();
  free(send);
  free(receive);
  return 0;
}
