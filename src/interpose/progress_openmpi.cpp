// Open MPI's opal_progress calls functions that components have registered with it, as its own nonblocking
// collectives do.
#include <dlfcn.h>
#include <mpi.h>

#include "exec/mpi/pending/progress.hpp"
#include "interpose/check.hpp"
#include "interpose/progress.hpp"

namespace circoll::interpose {
namespace {

int advance() {
  if (Check* const check = Check::on()) check->poll();
  return mpi::progress().poll();
}

}  // namespace

Hook install_progress_hook(bool /*multiple*/) {
  // Of libopen-pal, in no public header; looked up, since a build may hide it.
  using Register = int(int (*callback)());
  auto* const add = reinterpret_cast<Register*>(dlsym(RTLD_DEFAULT, "opal_progress_register"));
  return add != nullptr && add(advance) == MPI_SUCCESS ? Hook::installed : Hook::unknown;
}

void remove_progress_hook() {}  // MPI_Finalize does not wait for it

void announce_ended() {}  // completion wakes who waits

}  // namespace circoll::interpose
