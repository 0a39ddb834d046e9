#include "exec/mpi/library/failures.hpp"

#if CIRCOLL_TELLS_FAILURES
#include <dlfcn.h>

// Declared here, as the header of extensions is that of one build of the library. A library without the extension has
// none of them.
extern "C" {
[[gnu::weak]] int PMPIX_Comm_is_revoked(MPI_Comm comm, int* flag);
[[gnu::weak]] int PMPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failed);
[[gnu::weak]] int PMPIX_Comm_revoke(MPI_Comm comm);
}

namespace circoll::mpi::library {

bool is_revoked(MPI_Comm comm) {
  int revoked = 0;
  return PMPIX_Comm_is_revoked != nullptr && PMPIX_Comm_is_revoked(comm, &revoked) == MPI_SUCCESS && revoked != 0;
}

int failure_of(MPI_Comm comm) {
  if (is_revoked(comm)) return MPI_ERR_REVOKED;
  MPI_Group failed = MPI_GROUP_NULL;
  if (!outlives_failures() || PMPIX_Comm_get_failed(comm, &failed) != MPI_SUCCESS) return MPI_SUCCESS;
  int size = 0;
  PMPI_Group_size(failed, &size);
  if (failed != MPI_GROUP_EMPTY) PMPI_Group_free(&failed);
  return size == 0 ? MPI_SUCCESS : MPI_ERR_PROC_FAILED;
}

bool outlives_failures() {
  static const bool outlives = [] {
    if (PMPIX_Comm_get_failed == nullptr || PMPIX_Comm_revoke == nullptr) return false;
    const auto* const enabled = static_cast<const bool*>(dlsym(RTLD_DEFAULT, "ompi_ftmpi_enabled"));
    return enabled == nullptr || *enabled;
  }();
  return outlives;
}

void revoke(MPI_Comm comm) {
  if (PMPIX_Comm_revoke != nullptr) (void)PMPIX_Comm_revoke(comm);
}

}  // namespace circoll::mpi::library
#endif
