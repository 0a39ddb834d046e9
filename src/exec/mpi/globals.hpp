// All mutable state of the executor that outlives a call, in one place. (The drop-in's own is
// interpose/state.hpp.)
//
//   per process       Globals below: keyvals, the private communicators of MPI_COMM_SELF and MPI_COMM_WORLD, counters, scratch
//                     memory, held operators; interned choices (choices.cpp), plans (plans.cpp), pending operations
//                     (progress.hpp), persistent requests (persistent.cpp)
//   per communicator  CommState (communicator.hpp), an attribute of the user's communicator
//   per thread        the last communicator states and the last choices, as memos (communicator.cpp, choices.cpp)
//   per datatype      TypeInfo (datatype.hpp), an attribute of the user's derived datatype
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "exec/mpi/arena.hpp"

// A simulated rank is no thread: what it remembers must be among the variables that SMPI keeps apart for it.
#ifdef CIRCOLL_SIMULATED
#define CIRCOLL_THREAD_LOCAL static
#else
// Found without a call of the run-time linker, in the drop-in too. Libraries that are loaded late have few bytes of this kind.
#define CIRCOLL_THREAD_LOCAL [[gnu::tls_model("initial-exec")]] thread_local
#endif

namespace circoll::mpi {

class Carrier;
class CommState;

/// A user's operator that pending operations need.
struct HeldOp {
  int users = 0;
  bool freed = false;  ///< the program has freed it
};

struct Globals {
  /// Serialises what creates datatype attributes.
  std::mutex type_mutex;
  int type_keyval = MPI_KEYVAL_INVALID;
  /// 0 stands for bytes in signatures, so that ids begin at 1.
  std::atomic<std::uint64_t> next_type_id{1};

  /// Serialises creation and deletion of communicator states. Recursive: MPI may call the delete callback of
  /// an attribute from within a call that we make while we hold it.
  std::recursive_mutex comm_mutex;
  std::atomic<bool> keyvals_made{false};
  int comm_keyval = MPI_KEYVAL_INVALID;
  int finalize_keyval = MPI_KEYVAL_INVALID;
  std::atomic<MPI_Comm> self{MPI_COMM_NULL};
  /// Messages on it: those of packing have the lower tags, those that complete requests the others.
  static constexpr int packing_tags = 1 << 14;
  std::atomic<unsigned> next_packing_tag{0};
  std::atomic<std::uint64_t> next_request_tag{0};
  std::atomic<int> largest_tag{0};
  std::list<CommState*> states;
  /// Private communicators of other communicators than MPI_COMM_WORLD.
  std::atomic<int> private_comms{0};
  /// Made while MPI_Init ends, closed at MPI_Finalize; read-only in between.
  std::shared_ptr<Carrier> world;
  /// Set by the drop-in: of processes of another MPI_COMM_WORLD, spawned ones say, nobody knows whether they have it.
  std::atomic<bool> own_world_only{false};
  /// Set once the clean-up at MPI_Finalize has begun: from then on every call is native.
  std::atomic<bool> finalizing{false};
  /// Grows whenever a communicator state goes, so that memos of it are not trusted.
  std::atomic<std::uint64_t> generation{0};

  /// Operators that pending operations hold. No MPI call is made under the mutex.
  std::mutex held_mutex;
  std::unordered_map<MPI_Op, HeldOp> held_ops;

  /// Communicator states that nobody uses any more, to be deleted at the next opportunity.
  std::mutex released_mutex;
  std::atomic<CommState*> released{nullptr};  ///< the first; the others follow (CommState::next_released_)

  ArenaPool arenas;
};

/// Never destroyed: threads and destructors of the application may still call us at exit.
[[nodiscard]] Globals& globals();

/// MPI_TAG_UB, asked for once.
[[nodiscard]] int largest_tag();

/// A private duplicate of MPI_COMM_SELF that returns errors, for packing. Freed at MPI_Finalize.
[[nodiscard]] MPI_Comm self_communicator();

}  // namespace circoll::mpi
