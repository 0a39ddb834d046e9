// Open MPI's opal_progress calls functions that components have registered with it, as its own nonblocking
// collectives do.
#include <dlfcn.h>
#include <mpi.h>

#include "exec/mpi/comm/stalls.hpp"
#include "exec/mpi/pending/progress.hpp"
#include "interpose/progress.hpp"
#include "interpose/serving.hpp"

namespace circoll::interpose {
namespace {

int advance_openmpi() {
  if (Serving* const wrapper = Serving::first()) wrapper->poll();
  mpi::stalls().glance();
  return mpi::progress().poll();
}

Hook install_in_openmpi(bool /*multiple*/) {
  // Functions of libopen-pal, which no public header declares. They are looked up, since a build may hide them.
  using Register = int(int (*callback)());
  auto* const add = reinterpret_cast<Register*>(dlsym(RTLD_DEFAULT, "opal_progress_register"));
  return add != nullptr && add(advance_openmpi) == MPI_SUCCESS ? Hook::installed : Hook::unknown;
}

void remove_from_openmpi() {}  // MPI_Finalize does not wait for it

void announce_to_openmpi() {}  // completion wakes who waits

}  // namespace

const ProgressEngine openmpi_progress{install_in_openmpi, remove_from_openmpi, announce_to_openmpi};

}  // namespace circoll::interpose
