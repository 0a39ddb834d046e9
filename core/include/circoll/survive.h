/* Questions to the drop-in after a rank has failed (CIRCOLL_FAULTS=report or finish). C99.
 *
 * The functions are the drop-in's own. Without it they are null, and while failures are not looked after they answer as
 * if nothing had happened. A program that runs with and without it asks `if (circoll_failed_ranks)`.
 *
 * Include <mpi.h> before this header. A communicator is used by one thread at a time.
 */
#ifndef CIRCOLL_SURVIVE_H
#define CIRCOLL_SURVIVE_H

/* NOLINTBEGIN(modernize-use-using): a C header */
#ifdef __cplusplus
extern "C" {
#endif

/* The contributions in the result of the last blocking collective on a communicator. */
typedef enum circoll_result {
  CIRCOLL_RESULT_WHOLE = 0,     /* those of all ranks, but for ranks that had failed before the call */
  CIRCOLL_RESULT_FULL = 1,      /* a failure hit the call, which has those of all ranks nevertheless */
  CIRCOLL_RESULT_SURVIVORS = 2, /* a failure hit the call, which has those of the survivors */
  CIRCOLL_RESULT_NONE = 3       /* the call returned an error, and its receive buffers hold anything */
} circoll_result;

#ifdef MPI_VERSION
/* Writes the first `most` of the ranks that a communicator's collectives go without, in ascending order. Returns how
 * many there are: the same on all survivors after each of their calls. */
__attribute__((weak)) int circoll_failed_ranks(MPI_Comm comm, int most, int* ranks);
/* A circoll_result. */
__attribute__((weak)) int circoll_last_result(MPI_Comm comm);
/* Lets the survivors' calls on a communicator go on, if CIRCOLL_FAULTS is report. Without it they return the error.
 * Local, and all survivors do it. Returns MPI_SUCCESS, or MPI_ERR_COMM for a communicator that is not looked after. */
__attribute__((weak)) int circoll_acknowledge(MPI_Comm comm);
/* Makes a communicator of the survivors, in the same order. Collective over them. Returns an MPI error code. */
__attribute__((weak)) int circoll_survivors(MPI_Comm comm, MPI_Comm* survivors);
#endif

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-use-using) */
#endif
