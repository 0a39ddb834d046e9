/* A shared library of the program has C functions named as MPI's procedures are in Fortran, without an underscore. R's
 * Rmpi has such functions. The program must call them, not functions of these names in a preloaded library. Compiled
 * twice: with -DLIBRARY it is the shared library. */
#ifdef LIBRARY
#include <mpi.h>

/* Each function answers with its line, so that no two answers are the same. */
#define OWN(name)  \
  int name(int x); \
  int name(int x) { return x + __LINE__; }
OWN(mpi_init)
OWN(mpi_init_thread)
OWN(mpi_finalize)
OWN(mpi_start)
OWN(mpi_startall)
OWN(mpi_request_free)
OWN(mpi_cancel)
OWN(mpi_op_free)
OWN(mpi_comm_free)
OWN(mpi_testall)
OWN(mpi_barrier)
OWN(mpi_reduce)
OWN(mpi_reduce_scatter)
OWN(mpi_reduce_scatter_block)
OWN(mpi_scan)
OWN(mpi_exscan)
OWN(mpi_allgather)
OWN(mpi_allgatherv)
OWN(mpi_gather)
OWN(mpi_gatherv)
OWN(mpi_scatter)
OWN(mpi_scatterv)
OWN(mpi_bcast)
OWN(mpi_alltoall)
OWN(mpi_alltoallv)
OWN(mpi_ibarrier)
OWN(mpi_iallreduce)
OWN(mpi_ireduce)
OWN(mpi_ibcast)
OWN(mpi_igather)
OWN(mpix_bcast_init)
OWN(mpix_allreduce_init)
OWN(mpi_bcast_init)
OWN(mpi_allreduce_init)

/* The collective itself, by a function of its own. */
int mpi_allreduce(int x);
int mpi_allreduce(int x) {
  int sum = 0;
  MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

int own_functions(void);
int own_functions(void) {
  int (*const all[])(int) = {mpi_init,           mpi_init_thread,
                             mpi_finalize,       mpi_start,
                             mpi_startall,       mpi_request_free,
                             mpi_cancel,         mpi_op_free,
                             mpi_comm_free,      mpi_testall,
                             mpi_barrier,        mpi_reduce,
                             mpi_reduce_scatter, mpi_reduce_scatter_block,
                             mpi_scan,           mpi_exscan,
                             mpi_allgather,      mpi_allgatherv,
                             mpi_gather,         mpi_gatherv,
                             mpi_scatter,        mpi_scatterv,
                             mpi_bcast,          mpi_alltoall,
                             mpi_alltoallv,      mpi_ibarrier,
                             mpi_iallreduce,     mpi_ireduce,
                             mpi_ibcast,         mpi_igather,
                             mpix_bcast_init,    mpix_allreduce_init,
                             mpi_bcast_init,     mpi_allreduce_init};
  int answers = 0;
  for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) answers += (int)(i + 1) * all[i](1);
  return answers + mpi_allreduce(1);
}
#else
#include <mpi.h>
#include <stdio.h>

int own_functions(void);

int main(int argc, char** argv) {
  int rank = 0, answers = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  answers = own_functions();
  if (rank == 0) printf("answers: %d\n", answers);
  MPI_Finalize();
  return 0;
}
#endif
