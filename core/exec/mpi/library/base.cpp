#include "exec/mpi/library/base.hpp"

#include <atomic>

namespace circoll::mpi {
namespace {

/// Part of the executor's global state (HACKING.md).
struct Base {
  std::atomic<MPI_Comm> world{MPI_COMM_WORLD};
  std::atomic<MPI_Comm> self{MPI_COMM_SELF};
};

/// Never destroyed: threads of the program may still call us at exit.
Base& base() {
  static auto* const instance = new Base;
  return *instance;
}

}  // namespace

MPI_Comm base_world() { return base().world; }

MPI_Comm base_self() { return base().self; }

bool base_is_made() { return base_world() != MPI_COMM_WORLD; }

void set_base(MPI_Comm world, MPI_Comm self) {
  base().world = world;
  base().self = self;
}

void reset_base() { set_base(MPI_COMM_WORLD, MPI_COMM_SELF); }

}  // namespace circoll::mpi
