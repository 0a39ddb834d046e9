#include "exec/mpi/globals.hpp"

#include "exec/mpi/carrier.hpp"

namespace circoll::mpi {

Globals& globals() {
  static auto* const instance = new Globals;
  return *instance;
}

int largest_tag() {
  Globals& global = globals();
  if (const int known = global.largest_tag; known != 0) return known;
  void* value = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  global.largest_tag = found != 0 ? *static_cast<int*>(value) : 32767;  // what MPI promises
  return global.largest_tag;
}

MPI_Comm self_communicator() {
  Globals& global = globals();
  if (MPI_Comm known = global.self; known != MPI_COMM_NULL) return known;
  const std::lock_guard lock(global.comm_mutex);
  if (global.self == MPI_COMM_NULL) {
    MPI_Comm made = MPI_COMM_NULL;
    if (private_duplicate(MPI_COMM_SELF, &made) == MPI_SUCCESS) global.self = made;
  }
  return global.self;
}

}  // namespace circoll::mpi
