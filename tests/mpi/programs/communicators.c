/* Collectives on communicators of all kinds, and other properties of communicators: attributes and their callbacks,
 * names, topologies, groups. Knows nothing of Circoll: its output must be the same with and without the drop-in. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

/* Prints one line of every rank, in the order of ranks. */
static void say(const char* format, long a, long b, long c) {
  char line[160];
  int i;
  snprintf(line, sizeof line, format, a, b, c);
  if (rank != 0) {
    MPI_Send(line, sizeof line, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    return;
  }
  printf("0: %s\n", line);
  for (i = 1; i < size; ++i) {
    MPI_Recv(line, sizeof line, MPI_CHAR, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d: %s\n", i, line);
  }
}

/* Makes all blocking collectives on a communicator. Returns a number that depends on every result. */
static long collectives(MPI_Comm comm) {
  enum { n = 5, most = 16 };
  int p, r, i, a[n * most], b[n * most], counts[most], displs[most], again[most];
  long sum = 0;
  if (comm == MPI_COMM_NULL) return -1;
  MPI_Comm_size(comm, &p);
  MPI_Comm_rank(comm, &r);
  for (i = 0; i < n * p; ++i) a[i] = 31 * r + i;
  for (i = 0; i < p; ++i) {
    counts[i] = i % 2 == 0 ? n : 1;
    again[i] = (i + r) % 2 == 0 ? n : 2;
    displs[i] = n * i;
  }
#define ADD(call)         \
  memset(b, 0, sizeof b); \
  call;                   \
  for (i = 0; i < n * p; ++i) sum = (7 * sum + b[i]) % 1000003
  ADD(MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, comm));
  ADD(MPI_Reduce(a, b, n, MPI_INT, MPI_MAX, p - 1, comm));
  ADD(MPI_Reduce_scatter_block(a, b, n, MPI_INT, MPI_SUM, comm));
  ADD(MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, comm));
  ADD(MPI_Scan(a, b, n, MPI_INT, MPI_SUM, comm));
  ADD(MPI_Exscan(a, b, n, MPI_INT, MPI_SUM, comm); if (r == 0) memset(b, 0, sizeof b));
  ADD(MPI_Allgather(a, n, MPI_INT, b, n, MPI_INT, comm));
  ADD(MPI_Allgatherv(a, counts[r], MPI_INT, b, counts, displs, MPI_INT, comm));
  ADD(MPI_Gather(a, n, MPI_INT, b, n, MPI_INT, 0, comm));
  ADD(MPI_Gatherv(a, counts[r], MPI_INT, b, counts, displs, MPI_INT, p - 1, comm));
  ADD(MPI_Scatter(a, n, MPI_INT, b, n, MPI_INT, 0, comm));
  ADD(MPI_Scatterv(a, counts, displs, MPI_INT, b, counts[r], MPI_INT, p - 1, comm));
  ADD(MPI_Alltoall(a, n, MPI_INT, b, n, MPI_INT, comm));
  ADD(MPI_Alltoallv(a, again, displs, MPI_INT, b, again, displs, MPI_INT, comm));
  ADD(if (r == 0) memcpy(b, a, sizeof(int) * n); MPI_Bcast(b, n, MPI_INT, 0, comm));
  MPI_Barrier(comm);
  return sum;
}

static void topologies(void) {
  MPI_Comm comm, part;
  MPI_Group world, some;
  int i, dims[2] = {0, 0}, periods[2] = {1, 0}, keep[2] = {1, 0}, coords[2], kind, before, after, weight = 1;
  int *index, *edges, neighbours[2], ranks[16];
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
  say("cart %ld", collectives(comm), 0, 0);
  MPI_Topo_test(comm, &kind);
  MPI_Cart_get(comm, 2, dims, periods, coords);
  say("cart: kind %ld, at %ld %ld", kind == MPI_CART, coords[0], coords[1]);
  MPI_Cart_shift(comm, 0, 1, &before, &after);
  say("cart: neighbours %ld %ld", before, after, 0);
  MPI_Cart_sub(comm, keep, &part);
  say("cart_sub %ld", collectives(part), 0, 0);
  MPI_Comm_free(&part);
  MPI_Comm_free(&comm);

  index = malloc(sizeof(int) * (size_t)size);
  edges = malloc(sizeof(int) * (size_t)(2 * size));
  for (i = 0; i < size; ++i) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + 1) % size;
    edges[2 * i + 1] = (i + size - 1) % size;
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
  say("graph %ld", collectives(comm), 0, 0);
  MPI_Graph_neighbors(comm, rank, 2, neighbours);
  say("graph: neighbours %ld %ld", neighbours[0], neighbours[1], 0);
  MPI_Comm_free(&comm);
  before = (rank + size - 1) % size;
  after = (rank + 1) % size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &after, &weight, MPI_INFO_NULL, 0, &comm);
  say("dist_graph %ld", collectives(comm), 0, 0);
  i = -1;
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, &i, 1, MPI_INT, comm);
  say("dist_graph: from the neighbour %ld", i, 0, 0);
  MPI_Comm_free(&comm);
  free(index);
  free(edges);

  /* Groups have their ranks in reverse order. All ranks make some groups, and the members alone make others. */
  for (i = 0; i < size; ++i) ranks[i] = size - 1 - i;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, size - 1 > 0 ? size - 1 : 1, ranks, &some);
  MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
  say("create %ld", collectives(comm), 0, 0);
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  comm = MPI_COMM_NULL;
  MPI_Group_rank(some, &i);
  if (i != MPI_UNDEFINED) MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &comm);
  say("create_group %ld", collectives(comm), 0, 0);
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  MPI_Group_free(&some);
  MPI_Group_free(&world);

  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : rank % 2, -rank, &comm);
  say("split %ld", collectives(comm), 0, 0);
  if (comm != MPI_COMM_NULL) MPI_Comm_disconnect(&comm);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  say("split_type %ld", collectives(comm), 0, 0);
  MPI_Comm_free(&comm);
  say("self %ld", collectives(MPI_COMM_SELF), 0, 0);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  say("duplicate of self %ld", collectives(comm), 0, 0);
  MPI_Comm_free(&comm);
}

static void intercommunicators(void) {
  MPI_Comm half, inter, merged;
  const int side = rank < size / 2 ? 0 : 1;
  const int remote_leader = side == 0 ? size / 2 : 0;
  int others, first, root, i, sum = 0, buffer[16], theirs[16], counts[16], displs[16];
  if (size < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, remote_leader, 9, &inter);
  MPI_Comm_remote_size(inter, &others);
  MPI_Comm_rank(half, &first);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  say("inter: allreduce %ld", sum, 0, 0);
  /* The first rank of the lower half sends to the upper half. */
  root = side == 1 ? 0 : first == 0 ? MPI_ROOT : MPI_PROC_NULL;
  sum = rank + 100;
  MPI_Bcast(&sum, 1, MPI_INT, root, inter);
  say("inter: bcast %ld", sum, 0, 0);
  for (i = 0; i < 16; ++i) buffer[i] = theirs[i] = -1, counts[i] = 1, displs[i] = i;
  MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, inter);
  MPI_Gather(&rank, 1, MPI_INT, buffer, 1, MPI_INT, root, inter);
  say("inter: reduce, gather %ld %ld %ld", root == MPI_ROOT ? sum : 0, buffer[0], buffer[others - 1]);
  MPI_Gatherv(&rank, 1, MPI_INT, theirs, counts, displs, MPI_INT, root, inter);
  MPI_Scatterv(buffer, counts, displs, MPI_INT, &sum, 1, MPI_INT, root, inter);
  say("inter: gatherv, scatterv %ld %ld", theirs[0], sum, 0);
  for (i = 0; i < 16; ++i) buffer[i] = 10 * rank + i, theirs[i] = -1;
  MPI_Alltoall(buffer, 1, MPI_INT, theirs, 1, MPI_INT, inter);
  say("inter: alltoall %ld %ld", theirs[0], theirs[others - 1], 0);
  MPI_Allgather(&rank, 1, MPI_INT, theirs, 1, MPI_INT, inter);
  MPI_Allgatherv(&rank, 1, MPI_INT, theirs, counts, displs, MPI_INT, inter);
  say("inter: allgather %ld %ld", theirs[0], theirs[others - 1], 0);
  MPI_Barrier(inter);
  MPI_Intercomm_merge(inter, side, &merged);
  say("merged %ld", collectives(merged), 0, 0);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static int copies, deletions, collectives_when_deleted;

static int copy(MPI_Comm comm, int keyval, void* extra, void* value, void* copied, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  ++copies;
  *(void**)copied = (char*)value + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  ++deletions;
  return MPI_SUCCESS;
}

/* Collectives still work in MPI_Finalize, while the attributes of MPI_COMM_SELF go. */
static int last(MPI_Comm comm, int keyval, void* value, void* extra) {
  int one = 1, sum = 0;
  (void)comm, (void)keyval, (void)value, (void)extra;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("in MPI_Finalize: %d\n", sum);
  return MPI_SUCCESS;
}

/* The callback uses the attribute's own communicator while the attribute is being deleted. */
static int use(MPI_Comm comm, int keyval, void* value, void* extra) {
  int one = 1, sum = 0;
  (void)keyval, (void)value, (void)extra;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Allreduce(&sum, &one, 1, MPI_INT, MPI_SUM, comm);
  collectives_when_deleted += one;
  return MPI_SUCCESS;
}

static char value[8];

static void attributes(void) {
  MPI_Comm comm, second, third;
  int keyval, user, i, found, length;
  void* got;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm_create_keyval(copy, delete, &keyval, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, keyval, value);
  MPI_Comm_set_name(comm, "the user's");
  collectives(comm);
  say("attributes: %ld copies, %ld deletions", copies, deletions, 0);
  MPI_Comm_dup(comm, &second);
  say("second: %ld copies, %ld deletions, %ld", copies, deletions, collectives(second));
  MPI_Comm_dup(second, &third);
  say("third: %ld copies, %ld deletions, %ld", copies, deletions, collectives(third));
  MPI_Comm_get_attr(third, keyval, &got, &found);
  say("third: found %ld, value %ld", found, found ? (char*)got - value : -1, 0);
  MPI_Comm_get_name(comm, name, &length);
  say(name, 0, 0, 0);
  MPI_Comm_get_name(second, name, &length);
  say("length of the second's name %ld", length, 0, 0);
  MPI_Comm_free(&comm);
  say("first freed: %ld copies, %ld deletions, %ld", copies, deletions, collectives(second) + collectives(third));
  MPI_Comm_delete_attr(third, keyval);
  MPI_Comm_free(&third);
  MPI_Comm_free(&second);
  say("all freed: %ld copies, %ld deletions", copies, deletions, 0);
  /* Communicators come and go, every one with the attribute, and some of them are used. */
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, keyval, value);
  for (i = 0; i < 60; ++i) {
    MPI_Comm_dup(comm, &second);
    if (i % 3 == 0) MPI_Barrier(second);
    MPI_Comm_free(&second);
  }
  MPI_Comm_free(&comm);
  say("many: %ld copies, %ld deletions", copies, deletions, 0);
  MPI_Comm_free_keyval(&keyval);

  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, use, &user, NULL);
  for (i = 0; i < 2; ++i) { /* attributes that are older and younger than the first collective */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (i == 0) MPI_Comm_set_attr(comm, user, value);
    MPI_Barrier(comm);
    if (i == 1) MPI_Comm_set_attr(comm, user, value);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm); /* may get the handle of the one before */
    say("after a collective of a deletion: %ld", collectives(comm), 0, 0);
    MPI_Comm_free(&comm);
  }
  say("collectives of deletions: %ld", collectives_when_deleted, 0, 0);
  MPI_Comm_free_keyval(&user);

  /* Attributes of a datatype that is used. */
  {
    MPI_Datatype pair, other;
    int in[4] = {0, 1, 2, 3};
    int integers, addresses, types, combiner;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_set_name(pair, "pair");
    MPI_Bcast(in, 1, pair, 0, MPI_COMM_WORLD);
    MPI_Type_dup(pair, &other);
    MPI_Type_get_name(other, name, &length);
    MPI_Type_get_envelope(pair, &integers, &addresses, &types, &combiner);
    say("type: length of the name %ld, integers %ld, vector %ld", length, integers, combiner == MPI_COMBINER_VECTOR);
    MPI_Bcast(in, 1, other, 0, MPI_COMM_WORLD);
    MPI_Type_free(&other);
    MPI_Type_free(&pair);
  }
}

int main(int argc, char** argv) {
  int older, younger;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last, &older, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last, &younger, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, older, value);
  say("world %ld", collectives(MPI_COMM_WORLD), 0, 0);
  MPI_Comm_set_attr(MPI_COMM_SELF, younger, value);
  topologies();
  intercommunicators();
  attributes();
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
