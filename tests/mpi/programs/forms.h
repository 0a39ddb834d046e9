/* Every collective on the buffers of one round, in three forms: blocking, nonblocking and persistent. */
#ifndef FORMS_H
#define FORMS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "persistent.h"

enum { forms = 17 };
enum Form { blocking_form, nonblocking_form, persistent_form };

/* The buffers of one round: a receive buffer for each collective. */
struct Round {
  int n;
  int *in, *out[forms], *counts, *displs, *got, *spaced, *one;
};

static const char* const names[forms] = {"allreduce",
                                         "reduce",
                                         "reduce_scatter_block",
                                         "reduce_scatter",
                                         "allgather",
                                         "allgatherv",
                                         "gather",
                                         "gatherv",
                                         "scatter",
                                         "scatterv",
                                         "alltoall",
                                         "alltoallv",
                                         "scan",
                                         "exscan",
                                         "bcast",
                                         "reduce_scatter to one",
                                         "barrier"};

static void make(struct Round* r, int n, int seed) {
  int i, total = 0;
  size_t all = (size_t)(n * size + 1) * sizeof(int);
  r->n = n;
  r->in = malloc(all);
  r->counts = malloc(sizeof(int) * (size_t)size);
  r->displs = malloc(sizeof(int) * (size_t)size);
  r->got = malloc(sizeof(int) * (size_t)size);
  r->spaced = malloc(sizeof(int) * (size_t)size);
  r->one = malloc(sizeof(int) * (size_t)size);
  for (i = 0; i < n * size; ++i) r->in[i] = seed + (rank + 1) * 1000 + i % 977;
  for (i = 0; i < size; ++i) {
    r->counts[i] = i % 2 == 0 ? n : n / 2;
    r->displs[i] = total;
    total += r->counts[i];
    r->spaced[i] = (size - 1 - i) * n;
    r->one[i] = i == size / 2 ? n : 0;
  }
  for (i = 0; i < size; ++i) r->got[i] = r->counts[rank];
  for (i = 0; i < forms; ++i) {
    r->out[i] = malloc(all);
    memset(r->out[i], 0, all);
  }
  memcpy(r->out[14], r->in, all);
}

static void finish(struct Round* r, const char* how, int k) {
  char what[64];
  size_t all = (size_t)(r->n * size) * sizeof(int);
  snprintf(what, sizeof what, "%s %s %d", names[k], how, r->n);
  if (k == 13 && rank == 0) memset(r->out[k], 0, all); /* not defined there */
  report(what, r->out[k], all);
}

static void drop(struct Round* r) {
  int i;
  for (i = 0; i < forms; ++i) free(r->out[i]);
  free(r->in);
  free(r->counts);
  free(r->displs);
  free(r->got);
  free(r->spaced);
  free(r->one);
}

/* The same arguments for MPI_NAME, MPI_Iname and MPI_Name_init. */
#define CALL(name, iname, ...)                                                          \
  do {                                                                                  \
    if (form == blocking_form) MPI_##name(__VA_ARGS__);                                 \
    if (form == nonblocking_form) MPI_I##iname(__VA_ARGS__, request);                   \
    if (form == persistent_form) PERSISTENT(name)(__VA_ARGS__, MPI_INFO_NULL, request); \
  } while (0)

/* Calls collective k, starts it, or makes a persistent request of it. A blocking call sets no request. */
static void call(enum Form form, struct Round* r, int k, MPI_Comm comm, MPI_Request* request) {
  const int n = r->n;
  int *in = r->in, *out = r->out[k];
  switch (k) {
    case 0:
      CALL(Allreduce, allreduce, in, out, n, MPI_INT, MPI_SUM, comm);
      break;
    case 1:
      CALL(Reduce, reduce, in, out, n, MPI_INT, MPI_SUM, size - 1, comm);
      break;
    case 2:
      CALL(Reduce_scatter_block, reduce_scatter_block, in, out, n, MPI_INT, MPI_SUM, comm);
      break;
    case 3:
      CALL(Reduce_scatter, reduce_scatter, in, out, r->counts, MPI_INT, MPI_MIN, comm);
      break;
    case 4:
      CALL(Allgather, allgather, in, n, MPI_INT, out, n, MPI_INT, comm);
      break;
    case 5:
      CALL(Allgatherv, allgatherv, in, r->counts[rank], MPI_INT, out, r->counts, r->displs, MPI_INT, comm);
      break;
    case 6:
      CALL(Gather, gather, in, n, MPI_INT, out, n, MPI_INT, size / 2, comm);
      break;
    case 7:
      CALL(Gatherv, gatherv, in, r->counts[rank], MPI_INT, out, r->counts, r->displs, MPI_INT, 0, comm);
      break;
    case 8:
      CALL(Scatter, scatter, in, n, MPI_INT, out, n, MPI_INT, 0, comm);
      break;
    case 9:
      CALL(Scatterv, scatterv, in, r->counts, r->displs, MPI_INT, out, r->counts[rank], MPI_INT, size - 1, comm);
      break;
    case 10:
      CALL(Alltoall, alltoall, in, n, MPI_INT, out, n, MPI_INT, comm);
      break;
    case 11:
      CALL(Alltoallv, alltoallv, in, r->counts, r->displs, MPI_INT, out, r->got, r->spaced, MPI_INT, comm);
      break;
    case 12:
      CALL(Scan, scan, in, out, n, MPI_INT, MPI_SUM, comm);
      break;
    case 13:
      CALL(Exscan, exscan, in, out, n, MPI_INT, MPI_SUM, comm);
      break;
    case 14:
      CALL(Bcast, bcast, out, n, MPI_INT, size / 2, comm);
      break;
    case 15:
      CALL(Reduce_scatter, reduce_scatter, in, out, r->one, MPI_INT, MPI_SUM, comm);
      break;
    default:
      if (form == blocking_form) MPI_Barrier(comm);
      if (form == nonblocking_form) MPI_Ibarrier(comm, request);
      if (form == persistent_form) PERSISTENT(Barrier)(comm, MPI_INFO_NULL, request);
      break;
  }
}

#endif
