// Programs of sessions only, without MPI_Init. The first communicator from MPI_Comm_create_from_group takes the part of
// MPI_COMM_WORLD for its processes, if it is the first one for each of them. The drop-in makes its own communicators of
// the same processes, from a session of its own, as the program may end its session sooner. They are freed when the
// program ends its last session.
#include "interpose/setup.hpp"

#include <mpi.h>

#include <atomic>
#include <numeric>

#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"
#include "interpose/all_ranks.hpp"
#include "interpose/census.hpp"
#include "interpose/launch.hpp"
#include "interpose/serve.hpp"
#include "interpose/state.hpp"

#if CIRCOLL_HAS_SESSIONS

namespace circoll::interpose {
namespace {

/// The sessions of the program, and the objects that the drop-in has made for them.
struct Sessions {
  std::mutex mutex;  // of the number
  int open = 0;
  MPI_Session own = MPI_SESSION_NULL;
  std::atomic<bool> absent{false};  ///< some process of this node runs without the drop-in
};

/// Never destroyed: threads of the program may still run at exit.
Sessions& sessions() {
  static auto* const instance = new Sessions;
  return *instance;
}

bool is_initialized() {
  int initialized = 0;
  PMPI_Initialized(&initialized);
  return initialized != 0;
}

/// A communicator of processes of a set of our session, with a name among those of the same processes.
MPI_Comm make(const char* set, const char* name, MPI_Group members) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  if (PMPI_Group_from_session_pset(sessions().own, set, &all) != MPI_SUCCESS) return made;
  int count = 1;
  if (members != MPI_GROUP_NULL) PMPI_Group_size(members, &count);
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> in_all = ranks;
  int rc = MPI_SUCCESS;
  if (members != MPI_GROUP_NULL) rc = PMPI_Group_translate_ranks(members, count, ranks.data(), all, in_all.data());
  if (rc == MPI_SUCCESS) rc = PMPI_Group_incl(all, count, in_all.data(), &some);
  if (rc == MPI_SUCCESS) {
    rc = PMPI_Comm_create_from_group(some, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    PMPI_Group_free(&some);
  }
  PMPI_Group_free(&all);
  return rc == MPI_SUCCESS ? made : MPI_COMM_NULL;
}

void drop(MPI_Comm world, MPI_Comm self) {
  // The end of all that is attached to it, as MPI_COMM_SELF's in MPI_Finalize.
  if (self != MPI_COMM_NULL) PMPI_Comm_free(&self);
  if (world != MPI_COMM_NULL) PMPI_Comm_free(&world);
  if (sessions().own != MPI_SESSION_NULL) PMPI_Session_finalize(&sessions().own);
}

/// Lets a communicator of the program take the part of MPI_COMM_WORLD. Collective.
void found(MPI_Comm comm) {
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm self = MPI_COMM_NULL;
  if (PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions().own) == MPI_SUCCESS) {
    MPI_Group members = MPI_GROUP_NULL;
    if (PMPI_Comm_group(comm, &members) == MPI_SUCCESS) {
      world = make("mpi://WORLD", "circoll", members);
      PMPI_Group_free(&members);
    }
    self = make("mpi://SELF", "circoll alone", MPI_GROUP_NULL);
  }
  int all = world != MPI_COMM_NULL && self != MPI_COMM_NULL ? 1 : 0;
  if (!reduce_apart(&all, 1, MPI_INT, MPI_MIN, comm) || all == 0) {
    return drop(world, self);
  }
  mpi::set_base(world, self);
  State::begin_sessions().begin();
}

/// The program has made a communicator of a group. All its processes come to the same decision here.
void made(MPI_Comm comm) {
  int size = 1;
  int rank = 0;
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_rank(comm, &rank);
  // One of several processes may get another one with the others later.
  if (size == 1 && (!mpi::library::sessions_progress_alone || launched_several())) return;
  if (sessions().absent) return;
  if (const Census census = take_census(size); census.attendance == Attendance::some) {
    sessions().absent = true;
    return say_absent(census.absent, size, report_setting() != "0");
  }
  const auto watchdog = size > 1 ? watch(rank, "MPI_Comm_create_from_group") : nullptr;
  int taken = State::known() != nullptr || is_initialized() ? 1 : 0;  // on any rank, then
  if (!reduce_apart(&taken, 1, MPI_INT, MPI_MAX, comm) || taken != 0) return;
  found(comm);
}

}  // namespace

void end_sessions_if(int left) noexcept {
  {
    const std::lock_guard lock(sessions().mutex);
    if (sessions().open > left) return;
  }
  if (!mpi::base_is_made()) return;
  State::known()->progress().stop();
  const MPI_Comm world = mpi::base_world();
  const MPI_Comm self = mpi::base_self();
  drop(world, self);
  mpi::reset_globals();
  mpi::reset_base();
  State::end_sessions();
}

}  // namespace circoll::interpose

extern "C" {

CIRCOLL_EXPORT int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  using circoll::interpose::sessions;
  circoll::interpose::stop_if_wrong(__builtin_return_address(0));
  circoll::interpose::announce_again();
  const int error = CIRCOLL_NEXT(Session_init)(info, handler, session);
  const std::lock_guard lock(sessions().mutex);
  if (error == MPI_SUCCESS) ++sessions().open;
  return error;
}

CIRCOLL_EXPORT int MPI_Session_finalize(MPI_Session* session) {
  using circoll::interpose::sessions;
  int initialized = 0;
  int finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  if (initialized == 0 || finalized != 0) circoll::interpose::end_sessions_if(1);
  {
    const std::lock_guard lock(sessions().mutex);
    --sessions().open;
  }
  return CIRCOLL_NEXT(Session_finalize)(session);
}

CIRCOLL_EXPORT int MPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler,
                                              MPI_Comm* comm) {
  const int error = CIRCOLL_NEXT(Comm_create_from_group)(group, tag, info, handler, comm);
  if (error != MPI_SUCCESS || *comm == MPI_COMM_NULL) return error;
  try {
    circoll::interpose::made(*comm);
  } catch (...) {
    return error;  // the communicator is there, and its calls are native
  }
  return error;
}

}  // extern "C"

#else

namespace circoll::interpose {

void end_sessions_if(int /*left*/) noexcept {}

}  // namespace circoll::interpose

#endif
