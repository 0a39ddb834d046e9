/* Calls about which the drop-in must ask the MPI library questions that are errors: handles that do not exist, types
 * that are not committed. Prints for each the class of the returned error, and the error handlers that were called for
 * it. Knows nothing of Circoll: its output must be the same with and without the drop-in.
 *   questions             user-defined error handlers on a duplicate of MPI_COMM_WORLD, and on MPI_COMM_WORLD and _SELF
 *   questions nonblocking     the same with nonblocking calls
 *   questions returned        MPI_ERRORS_RETURN on the duplicate, fatal ones on the others
 *   questions used_up         no communicators are left (MPICH) */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "verdicts.h"

static void ask(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  int a[32] = {0}, b[32] = {0}, counts[2] = {1, 1}, displs[2] = {0, 1};
  MPI_Datatype none = (MPI_Datatype)0, open, resized, good;
  MPI_Op op, no_op = (MPI_Op)0;
  MPI_Op_create(add, 1, &op);
  MPI_Type_vector(2, 1, 2, MPI_INT, &open);
  MPI_Type_create_resized(MPI_INT, 0, 8, &resized);
  MPI_Type_vector(2, 1, 2, MPI_INT, &good);
  MPI_Type_commit(&good);
#define TYPES(what, type)                                                                           \
  report("bcast, " what, CALL(Bcast, bcast, b, 1, type, 0, comm));                                  \
  report("allgather, " what, CALL(Allgather, allgather, a, 1, type, b, 1, type, comm));             \
  report("gatherv, " what, CALL(Gatherv, gatherv, a, 1, type, b, counts, displs, type, 0, comm));   \
  report("alltoall, " what, CALL(Alltoall, alltoall, a, 1, type, b, 1, type, comm));                \
  if (!reductions_need_types || (type) != MPI_DATATYPE_NULL) {                                      \
    report("allreduce, user operator, " what, CALL(Allreduce, allreduce, a, b, 1, type, op, comm)); \
    report("reduce, user operator, " what, CALL(Reduce, reduce, a, b, 1, type, op, 0, comm));       \
    report("scan, user operator, " what, CALL(Scan, scan, a, b, 1, type, op, comm));                \
  }
  report("bcast", CALL(Bcast, bcast, b, 1, good, 0, comm));
  report("allreduce, user operator", CALL(Allreduce, allreduce, a, b, 4, MPI_INT, op, comm));
  TYPES("MPI_DATATYPE_NULL", MPI_DATATYPE_NULL)
  if (!reductions_need_types) {
    report("reduce, MPI_DATATYPE_NULL", CALL(Reduce, reduce, a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, comm));
  }
  TYPES("not committed", open)
  TYPES("resized, not committed", resized)
  TYPES("a handle of zero", none)
#ifdef MPICH_VERSION
  TYPES("a communicator's handle", (MPI_Datatype)MPI_COMM_WORLD)
  TYPES("an operator's handle", (MPI_Datatype)op)
#endif
#if MPI_VERSION >= 4
  {
    MPI_Datatype large, of_large;
    MPI_Type_contiguous_c(2, MPI_INT, &large);
    MPI_Type_contiguous(2, large, &of_large);
    TYPES("of a large count, not committed", large)
    TYPES("made of it, not committed", of_large)
    MPI_Type_free(&large);
    MPI_Type_free(&of_large);
  }
#endif
  report("reduce, an operator of zero", CALL(Reduce, reduce, a, b, 1, MPI_INT, no_op, 0, comm));
#ifdef MPICH_VERSION
  report("allreduce, an operator of zero", CALL(Allreduce, allreduce, a, b, 1, MPI_INT, no_op, comm));
  report("scan, a type as operator", CALL(Scan, scan, a, b, 1, MPI_INT, (MPI_Op)good, comm));
  report("exscan, a type as operator", CALL(Exscan, exscan, a, b, 1, MPI_INT, (MPI_Op)good, comm));
#endif
  report("bcast", CALL(Bcast, bcast, b, 1, good, 0, comm));
  MPI_Type_free(&open);
  MPI_Type_free(&resized);
  MPI_Type_free(&good);
  MPI_Op_free(&op);
}

/* Makes as many communicators as there can be, then a call about which the drop-in must ask. */
static void use_up(void) {
  static MPI_Comm all[4000];
  MPI_Datatype type;
  int b[4] = {rank, rank, rank, rank}, n = 0, least = 0;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  while (n < 4000 && MPI_Comm_dup(comm, &all[n]) == MPI_SUCCESS) ++n;
  MPI_Reduce(&n, &least, 1, MPI_INT, MPI_MIN, 0, comm);
  MPI_Bcast(b, 1, type, 0, comm);
  if (b[0] != 0 || b[1] != rank || b[2] != 0 || b[3] != rank) printf("rank %d: wrong\n", rank);
  MPI_Barrier(comm);
  if (rank == 0) puts(least < 4000 ? "all used up" : "there are more");
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  MPI_Errhandler mine;
  int i, returned = 0, used_up = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (size > 2) MPI_Abort(MPI_COMM_WORLD, 2); /* arrays of counts */
  for (i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "nonblocking") == 0) nonblocking = 1;
    if (strcmp(argv[i], "returned") == 0) returned = 1;
    if (strcmp(argv[i], "used_up") == 0) used_up = 1;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (used_up) {
    use_up();
    MPI_Finalize(); /* the communicators are lost */
    return 0;
  }
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(comm, returned ? MPI_ERRORS_RETURN : mine);
  if (!returned) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
  }
  MPI_Errhandler_free(&mine);
  ask();
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
