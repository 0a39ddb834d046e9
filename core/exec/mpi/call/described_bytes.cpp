#include "exec/mpi/call/described_bytes.hpp"

#include "exec/mpi/call/caller_buffers.hpp"

namespace circoll::mpi {

Count described_bytes(const Call& call) noexcept {
  if (call.collective == Collective::barrier) return 0;
  int is_inter = 0;
  int rank = 0;
  int size = 0;
  if (PMPI_Comm_test_inter(call.comm, &is_inter) != MPI_SUCCESS || is_inter != 0) return 0;
  if (PMPI_Comm_rank(call.comm, &rank) != MPI_SUCCESS || PMPI_Comm_size(call.comm, &size) != MPI_SUCCESS) return 0;
  try {
    return CallerBuffers(call, rank, size).own_bytes();
  } catch (...) {
    return 0;  // no memory: the call has succeeded all the same
  }
}

}  // namespace circoll::mpi
