// The state of the executor's communicators that outlives a call.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace circoll::mpi {

class Carrier;
class CommState;

/// Part of the executor's global state (HACKING.md).
struct Globals {
  /// Locks the list of communicator states, and the objects that are made once. Once these are made, it covers no call
  /// of MPI: MPI calls the delete callback of an attribute, which takes this lock, while MPI holds locks of its own.
  /// The lock is recursive because of the calls before.
  std::recursive_mutex comm_mutex;
  std::atomic<bool> keyvals_made{false};
  int comm_keyval = MPI_KEYVAL_INVALID;
  int finalize_keyval = MPI_KEYVAL_INVALID;
  std::list<CommState*> states;
  /// Private communicators of other communicators than MPI_COMM_WORLD.
  std::atomic<int> private_comms{0};
  /// Made while MPI_Init ends, closed at MPI_Finalize; read-only in between.
  std::shared_ptr<Carrier> world;
  /// Set by the drop-in: of processes of another MPI_COMM_WORLD, spawned ones say, nobody knows whether they have it.
  std::atomic<bool> own_world_only{false};
  /// Set by the drop-in where MPI_Init ends: calls on any communicator may have memory of devices.
  std::atomic<bool> expects_devices{false};
  /// Calls of each collective on a communicator that are native before one is served (CIRCOLL_SERVE_AFTER). The
  /// drop-in sets it. 0: all calls are served, also on communicators of one rank, where there is nothing to gain.
  std::atomic<int> serve_after{0};
  /// Bytes of the parts in which long messages go between nodes. It is the same on all ranks, and 0 if none goes in
  /// parts. The drop-in sets it where MPI_Init ends.
  std::atomic<std::int64_t> part_bytes{0};
  /// The ranges of tags that have been taken.
  std::atomic<std::uint64_t> ranges{0};
  /// Set once the clean-up at MPI_Finalize has begun: from then on every call is native.
  std::atomic<bool> finalizing{false};
  /// Grows whenever a communicator state goes, so that memos of it are not trusted.
  std::atomic<std::uint64_t> generation{0};

  /// Communicator states that nobody uses any more, to be deleted at the next opportunity.
  std::mutex released_mutex;
  std::atomic<CommState*> released{nullptr};  ///< the first; the others follow (CommState::next_released_)

  /// Functions of other rooms that free their objects of MPI (at_finalize).
  std::vector<void (*)() noexcept> closers;
};

/// Never destroyed: threads and destructors of the application may still call us at exit.
[[nodiscard]] Globals& globals();

/// Makes them as they were before the first communicator, when all is closed and sessions may begin anew.
void reset_globals();

/// Has a function called at MPI_Finalize, once the states of communicators are closed. Thread-safe.
void at_finalize(void (*close)() noexcept);

}  // namespace circoll::mpi
