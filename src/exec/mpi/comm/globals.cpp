#include "exec/mpi/comm/globals.hpp"

namespace circoll::mpi {

Globals& globals() {
  static auto* const instance = new Globals;
  return *instance;
}

void at_finalize(void (*close)() noexcept) {
  const std::lock_guard lock(globals().comm_mutex);
  globals().closers.push_back(close);
}

}  // namespace circoll::mpi
