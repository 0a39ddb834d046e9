/* The C ABI of Circoll. C99.
 *
 * Functions return CIRCOLL_OK or another circoll_error; circoll_last_error() then says in words what went wrong.
 * Include <mpi.h> before this header to get the collectives (circoll_mpi_*), and link circoll::openmpi or
 * circoll::mpich; all else needs circoll::circoll only.
 */
#ifndef CIRCOLL_CIRCOLL_H
#define CIRCOLL_CIRCOLL_H

/* NOLINTBEGIN(modernize-deprecated-headers, modernize-use-using): a C header */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers of circoll::ErrorCode. */
typedef enum circoll_error {
  CIRCOLL_OK = 0,
  CIRCOLL_INVALID_ARGUMENT = 1, /* a value outside its documented range: a bad root, a negative count, a null handle */
  CIRCOLL_UNKNOWN_NAME = 2,     /* no collective, algorithm, type or operator has this name */
  CIRCOLL_UNSUPPORTED = 3,      /* the algorithm's needs do not hold (operator, p, parameters) */
  CIRCOLL_PARSE = 4,            /* text could not be read */
  CIRCOLL_REFUTED = 5,          /* a schedule failed verification */
  CIRCOLL_TRANSPORT = 6,        /* MPI reported an error; see circoll_last_mpi_error() */
  CIRCOLL_INTERNAL = 7          /* a broken invariant of the library, or memory ran out */
} circoll_error;

/* "0.2.0" */
const char* circoll_version(void);
/* One line for an error code. */
const char* circoll_error_string(int error);
/* The message of the last failed call of this thread; "" if none failed. Valid until the thread's next failed call. */
const char* circoll_last_error(void);
/* MPI's error code of the last CIRCOLL_TRANSPORT of this thread; 0 if there was none. */
int circoll_last_mpi_error(void);

/* Number of algorithm ids ("allreduce/circulant"), and one of them by index; NULL if there is no such index. */
size_t circoll_algorithm_count(void);
const char* circoll_algorithm_id(size_t index);
/* CIRCOLL_OK if the text names an algorithm, "collective/name[:param=value,...]". */
int circoll_check_id(const char* id);

#ifdef MPI_VERSION
/* The collectives: MPI's arguments with 64-bit counts, then what shall serve the call: NULL or "auto", "native", or
 * "name[:param=value,...]" of an algorithm. Counts and displacements of the irregular ones are arrays of int64_t.
 *
 * Erroneous arguments are CIRCOLL_INVALID_ARGUMENT by every choice, as far as this rank can see them:
 *   - a root that is no rank; a negative count;
 *   - NULL for a buffer that is not empty, or for counts or displacements;
 *   - MPI_DATATYPE_NULL, or a datatype that is not committed; MPI_OP_NULL; MPI_COMM_NULL;
 *   - MPI_IN_PLACE where MPI does not allow it.
 * No data has been sent then. The others may wait for this rank if they find nothing wrong.
 *
 * An error that only the MPI library finds, such as an operator that is not defined on a datatype, is
 * CIRCOLL_TRANSPORT. Neither error ends the job, even under the error handler MPI_ERRORS_ARE_FATAL, which a
 * communicator has unless a program sets another. There is one exception: a call that the MPI library serves, and has
 * served before, may fail because of other ranks or the network. Then the handler is called. Handles must be valid or
 * null, and MPI must be initialized.
 */
int circoll_mpi_allreduce(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm, const char* choice);
int circoll_mpi_reduce(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op, int root,
                       MPI_Comm comm, const char* choice);
int circoll_mpi_reduce_scatter_block(const void* sendbuf, void* recvbuf, int64_t recvcount, MPI_Datatype datatype,
                                     MPI_Op op, MPI_Comm comm, const char* choice);
int circoll_mpi_reduce_scatter(const void* sendbuf, void* recvbuf, const int64_t* recvcounts, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm, const char* choice);
int circoll_mpi_allgather(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice);
int circoll_mpi_allgatherv(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype, MPI_Comm comm,
                           const char* choice);
int circoll_mpi_gather(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf, int64_t recvcount,
                       MPI_Datatype recvtype, int root, MPI_Comm comm, const char* choice);
int circoll_mpi_gatherv(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, const char* choice);
int circoll_mpi_scatter(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf, int64_t recvcount,
                        MPI_Datatype recvtype, int root, MPI_Comm comm, const char* choice);
int circoll_mpi_scatterv(const void* sendbuf, const int64_t* sendcounts, const int64_t* displs, MPI_Datatype sendtype,
                         void* recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                         const char* choice);
int circoll_mpi_alltoall(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice);
int circoll_mpi_alltoallv(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls, MPI_Datatype sendtype,
                          void* recvbuf, const int64_t* recvcounts, const int64_t* rdispls, MPI_Datatype recvtype,
                          MPI_Comm comm, const char* choice);
/* A datatype for each block, and displacements in bytes. The choice is that of an alltoallv. */
int circoll_mpi_alltoallw(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                          const MPI_Datatype* sendtypes, void* recvbuf, const int64_t* recvcounts,
                          const int64_t* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm, const char* choice);
int circoll_mpi_scan(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                     const char* choice);
int circoll_mpi_exscan(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm, const char* choice);
int circoll_mpi_bcast(void* buffer, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm, const char* choice);
int circoll_mpi_barrier(MPI_Comm comm, const char* choice);

/* The sum of all numbers of all ranks, rounded once: the same bits for every number of ranks, and however the numbers
 * are distributed. One allreduce of a fixed size. `choice` is that of an allreduce. `count` may differ among the ranks.
 */
int circoll_mpi_exact_sum(const double* numbers, int64_t count, double* sum, MPI_Comm comm, const char* choice);
/* Several sums in one allreduce, i < sums. From 30 sums on, one of 8 bytes comes before. results[i] is the sum of
 * numbers[i][k] * weights[i][k] over k < counts[i] of all ranks, rounded once. It is the sum of numbers[i][k] where
 * `weights` or weights[i] is NULL. `sums` is the same on all ranks. */
int circoll_mpi_exact_sums(int sums, const double* const* numbers, const double* const* weights, const int64_t* counts,
                           double* results, MPI_Comm comm, const char* choice);

/* Among neighbours, on communicators with a topology. Arrays have an entry for each neighbour. The choice is NULL or
 * "auto", "direct" (each rank sends straight to its neighbours), "node_aware" (blocking and persistent calls join
 * messages between nodes), or "native". */
int circoll_mpi_neighbor_allgather(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice);
int circoll_mpi_neighbor_allgatherv(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype,
                                    MPI_Comm comm, const char* choice);
int circoll_mpi_neighbor_alltoall(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice);
int circoll_mpi_neighbor_alltoallv(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                                   MPI_Datatype sendtype, void* recvbuf, const int64_t* recvcounts,
                                   const int64_t* rdispls, MPI_Datatype recvtype, MPI_Comm comm, const char* choice);
int circoll_mpi_neighbor_alltoallw(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                                   const MPI_Datatype* sendtypes, void* recvbuf, const int64_t* recvcounts,
                                   const int64_t* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                   const char* choice);

/* Nonblocking and persistent calls: the arguments of the blocking one, then the place of the request.
 *
 * circoll_mpi_iallreduce() and the like begin a call and return at once. circoll_mpi_allreduce_init() and the like make
 * an inactive call, which circoll_mpi_start() begins again and again. Making a persistent call is collective, and may
 * wait for the other ranks. Buffers stay untouched while a call is active. An operator of MPI_Op_create must live as
 * long as the request. Arrays may be overwritten at once, and datatypes freed.
 *
 * Calls advance in circoll_mpi_wait() and circoll_mpi_test() of any request, and a blocking call on their communicator
 * ends them first. All ranks begin the calls of a communicator in the same order, blocking ones among them. A request
 * is used by one thread at a time, and must be over before its communicator is freed. Wrong arguments are errors of the
 * call that makes the request, and *request is NULL then. Other errors come from wait and test.
 */
typedef struct circoll_mpi_request_state* circoll_mpi_request;

/* Waits until the call has ended. A nonblocking request is freed and becomes NULL, also if the call failed. A
 * persistent one becomes inactive. An inactive request, or NULL, needs no waiting. */
int circoll_mpi_wait(circoll_mpi_request* request);
/* Never waits. Sets *ended to 1 if the call has ended or failed, and then does as circoll_mpi_wait(). Otherwise sets
 * *ended to 0. */
int circoll_mpi_test(circoll_mpi_request* request, int* ended);
/* Begins a persistent call with what its buffers hold now. CIRCOLL_INVALID_ARGUMENT if the request is active, NULL or
 * nonblocking. */
int circoll_mpi_start(circoll_mpi_request request);
/* Frees a request, which becomes NULL. An active call is waited for, and its error is returned. NULL is allowed. */
int circoll_mpi_request_free(circoll_mpi_request* request);

int circoll_mpi_iallreduce(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_ireduce(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op, int root,
                        MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_ireduce_scatter_block(const void* sendbuf, void* recvbuf, int64_t recvcount, MPI_Datatype datatype,
                                      MPI_Op op, MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_ireduce_scatter(const void* sendbuf, void* recvbuf, const int64_t* recvcounts, MPI_Datatype datatype,
                                MPI_Op op, MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_iallgather(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice,
                           circoll_mpi_request* request);
int circoll_mpi_iallgatherv(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                            const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype, MPI_Comm comm,
                            const char* choice, circoll_mpi_request* request);
int circoll_mpi_igather(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf, int64_t recvcount,
                        MPI_Datatype recvtype, int root, MPI_Comm comm, const char* choice,
                        circoll_mpi_request* request);
int circoll_mpi_igatherv(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype, int root,
                         MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_iscatter(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, const char* choice,
                         circoll_mpi_request* request);
int circoll_mpi_iscatterv(const void* sendbuf, const int64_t* sendcounts, const int64_t* displs, MPI_Datatype sendtype,
                          void* recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                          const char* choice, circoll_mpi_request* request);
int circoll_mpi_ialltoall(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice,
                          circoll_mpi_request* request);
int circoll_mpi_ialltoallv(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                           MPI_Datatype sendtype, void* recvbuf, const int64_t* recvcounts, const int64_t* rdispls,
                           MPI_Datatype recvtype, MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_ialltoallw(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                           const MPI_Datatype* sendtypes, void* recvbuf, const int64_t* recvcounts,
                           const int64_t* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm, const char* choice,
                           circoll_mpi_request* request);
int circoll_mpi_iscan(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                      MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_iexscan(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_ibcast(void* buffer, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm, const char* choice,
                       circoll_mpi_request* request);
int circoll_mpi_ibarrier(MPI_Comm comm, const char* choice, circoll_mpi_request* request);

int circoll_mpi_allreduce_init(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                               MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_reduce_init(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                            int root, MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int64_t recvcount, MPI_Datatype datatype,
                                          MPI_Op op, MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_reduce_scatter_init(const void* sendbuf, void* recvbuf, const int64_t* recvcounts,
                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, const char* choice,
                                    circoll_mpi_request* request);
int circoll_mpi_allgather_init(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                               int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice,
                               circoll_mpi_request* request);
int circoll_mpi_allgatherv_init(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                                const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype, MPI_Comm comm,
                                const char* choice, circoll_mpi_request* request);
int circoll_mpi_gather_init(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                            int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, const char* choice,
                            circoll_mpi_request* request);
int circoll_mpi_gatherv_init(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype, int root,
                             MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_scatter_init(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                             int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, const char* choice,
                             circoll_mpi_request* request);
int circoll_mpi_scatterv_init(const void* sendbuf, const int64_t* sendcounts, const int64_t* displs,
                              MPI_Datatype sendtype, void* recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root,
                              MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_alltoall_init(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                              int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice,
                              circoll_mpi_request* request);
int circoll_mpi_alltoallv_init(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                               MPI_Datatype sendtype, void* recvbuf, const int64_t* recvcounts, const int64_t* rdispls,
                               MPI_Datatype recvtype, MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_alltoallw_init(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                               const MPI_Datatype* sendtypes, void* recvbuf, const int64_t* recvcounts,
                               const int64_t* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm, const char* choice,
                               circoll_mpi_request* request);
int circoll_mpi_scan_init(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_exscan_init(const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_bcast_init(void* buffer, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm,
                           const char* choice, circoll_mpi_request* request);
int circoll_mpi_barrier_init(MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_ineighbor_allgather(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice,
                                    circoll_mpi_request* request);
int circoll_mpi_ineighbor_allgatherv(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype,
                                     MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_ineighbor_alltoall(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice,
                                   circoll_mpi_request* request);
int circoll_mpi_ineighbor_alltoallv(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                                    MPI_Datatype sendtype, void* recvbuf, const int64_t* recvcounts,
                                    const int64_t* rdispls, MPI_Datatype recvtype, MPI_Comm comm, const char* choice,
                                    circoll_mpi_request* request);
int circoll_mpi_ineighbor_alltoallw(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                                    const MPI_Datatype* sendtypes, void* recvbuf, const int64_t* recvcounts,
                                    const int64_t* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                    const char* choice, circoll_mpi_request* request);
int circoll_mpi_neighbor_allgather_init(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice,
                                        circoll_mpi_request* request);
int circoll_mpi_neighbor_allgatherv_init(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                                         const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype,
                                         MPI_Comm comm, const char* choice, circoll_mpi_request* request);
int circoll_mpi_neighbor_alltoall_init(const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, const char* choice,
                                       circoll_mpi_request* request);
int circoll_mpi_neighbor_alltoallv_init(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                                        MPI_Datatype sendtype, void* recvbuf, const int64_t* recvcounts,
                                        const int64_t* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                                        const char* choice, circoll_mpi_request* request);
int circoll_mpi_neighbor_alltoallw_init(const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                                        const MPI_Datatype* sendtypes, void* recvbuf, const int64_t* recvcounts,
                                        const int64_t* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                        const char* choice, circoll_mpi_request* request);
#endif

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-deprecated-headers, modernize-use-using) */

#endif
