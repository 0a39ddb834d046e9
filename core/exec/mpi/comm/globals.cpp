#include "exec/mpi/comm/globals.hpp"

#include "exec/mpi/comm/carrier.hpp"

namespace circoll::mpi {

Globals& globals() {
  static auto* const instance = new Globals;
  return *instance;
}

void reset_globals() {
  Globals& global = globals();
  const std::lock_guard lock(global.comm_mutex);
  for (int* const keyval : {&global.comm_keyval, &global.finalize_keyval}) {
    if (*keyval != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(keyval);
  }
  global.keyvals_made = false;
  global.world.reset();
  global.expects_devices = false;
  global.finalizing = false;
  ++global.generation;
}

void at_finalize(void (*close)() noexcept) {
  const std::lock_guard lock(globals().comm_mutex);
  globals().closers.push_back(close);
}

}  // namespace circoll::mpi
