#include "exec/mpi/library/base.hpp"

#include <dlfcn.h>

#include <atomic>
#include <mutex>

#include "exec/mpi/library/library.hpp"

namespace circoll::mpi {
namespace {

/// Part of the executor's global state (HACKING.md).
struct Communicators {
  std::atomic<MPI_Comm> world{MPI_COMM_WORLD};
  std::atomic<MPI_Comm> self{MPI_COMM_SELF};
  std::mutex mutex;  // of the making of `private_self`
  std::atomic<MPI_Comm> private_self{MPI_COMM_NULL};
  std::atomic<int> largest_tag{0};
};

/// Never destroyed: threads and destructors of the program may still call us at exit.
Communicators& communicators() {
  static auto* const instance = new Communicators;
  return *instance;
}

}  // namespace

MPI_Comm base_world() { return communicators().world; }

MPI_Comm base_self() { return communicators().self; }

bool base_is_made() { return base_world() != MPI_COMM_WORLD; }

void set_base(MPI_Comm world, MPI_Comm self) {
  communicators().world = world;
  communicators().self = self;
}

void reset_base() { set_base(MPI_COMM_WORLD, MPI_COMM_SELF); }

int largest_tag() {
  if (const int largest = communicators().largest_tag; largest != 0) return largest;
  void* value = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(base_world(), MPI_TAG_UB, &value, &found);
  communicators().largest_tag = found != 0 ? *static_cast<int*>(value) : 32767;  // what MPI promises
  return communicators().largest_tag;
}

bool yields_while_idle() {
  static const bool yields = [] {
    const auto* const setting = static_cast<const bool*>(dlsym(RTLD_DEFAULT, "ompi_mpi_yield_when_idle"));
    return setting != nullptr && *setting;
  }();
  return yields;
}

MPI_Comm self_communicator() {
  if (MPI_Comm self = communicators().private_self; self != MPI_COMM_NULL) return self;
  const std::lock_guard lock(communicators().mutex);
  if (communicators().private_self == MPI_COMM_NULL) {
    MPI_Comm made = MPI_COMM_NULL;
    if (private_duplicate(base_self(), &made) == MPI_SUCCESS) communicators().private_self = made;
  }
  return communicators().private_self;
}

void free_self_communicator() noexcept {
  if (MPI_Comm self = communicators().private_self.exchange(MPI_COMM_NULL); self != MPI_COMM_NULL)
    PMPI_Comm_free(&self);
}

int private_duplicate(MPI_Comm comm, MPI_Comm* made, UnsetHandlers handlers) {
  // A failure (no context id is left, say) is ours to handle, not the user's error handler's.
  MPI_Errhandler users = MPI_ERRHANDLER_NULL;
  int rc = PMPI_Comm_get_errhandler(comm, &users);
  if (rc != MPI_SUCCESS) return rc;
  const bool stays = library::knows_unset_handlers && handlers == UnsetHandlers::stay &&
                     (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF) && users == MPI_ERRORS_ARE_FATAL;
  if (!stays) PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (base_is_made() && (comm == base_world() || comm == base_self())) {
    // Without attributes to be copied. MPICH 4.2 cannot make one by MPI_Comm_create of a single process here.
    rc = PMPI_Comm_dup(comm, made);
  } else {
    MPI_Group group = MPI_GROUP_NULL;
    rc = PMPI_Comm_group(comm, &group);
    if (rc == MPI_SUCCESS) {
      rc = PMPI_Comm_create(comm, group, made);
      PMPI_Group_free(&group);
    }
  }
  if (!stays) PMPI_Comm_set_errhandler(comm, users);
  PMPI_Errhandler_free(&users);
  if (rc != MPI_SUCCESS) {
    *made = MPI_COMM_NULL;
    return rc;
  }
  PMPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
  return PMPI_Comm_set_name(*made, "circoll");
}

}  // namespace circoll::mpi
