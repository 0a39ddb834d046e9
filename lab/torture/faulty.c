/* LD_PRELOAD that is wrong on purpose: every seventh MPI_Allreduce flips a bit of the first byte of the result. It
 * tests circoll-torture, which must find the fault. */
#define _GNU_SOURCE
#include <mpi.h>

__attribute__((visibility("default"))) int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count,
                                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  static int calls;
  const int rc = PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  MPI_Aint lb = 0, extent = 0; /* negative lower bounds */
  PMPI_Type_get_true_extent(datatype, &lb, &extent);
  if (rc == MPI_SUCCESS && count > 0 && ++calls % 7 == 0) ((char*)recvbuf)[lb] ^= 1;
  return rc;
}
