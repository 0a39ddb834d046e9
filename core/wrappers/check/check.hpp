// CIRCOLL_MATCH=1 lets the ranks compare their calls before each collective (docs/user/diagnose.md).
//
// One object, made where MPI_Init ends, done in MPI_Finalize. Messages go over a private communicator of all of
// MPI_COMM_WORLD, so that they meet neither messages nor collectives of the program, and no communicator is needed for
// each of the program's.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/mpi/call/call.hpp"
#include "interpose/check_record.hpp"
#include "interpose/event.hpp"
#include "interpose/serving.hpp"
#include "wrappers/check/check_comm.hpp"

namespace circoll::interpose {

class Check final : public Serving {
 public:
  /// `messages` is a communicator of all of MPI_COMM_WORLD.
  Check(MPI_Comm messages, std::unique_ptr<Serving> next);

  /// Compares a call before it is made; if it blocks, waits for the other ranks.
  [[nodiscard]] int admit(const mpi::Call& call, Mode mode, const void* caller) override;
  [[nodiscard]] int admit(const mpi::NeighborCall& call, Mode mode, const void* caller) override;
  /// Passes on the packets that have arrived, if this rank has calls that are being compared. Thread-safe, also from
  /// within itself.
  void poll() noexcept override;
  /// MPI_Finalize, which is compared too; the end of all comparisons.
  void finish(const void* caller) noexcept override;

 private:
  class Turn;
  using CommPointer = std::shared_ptr<CheckedComm>;

  /// A communicator whose ranks agree on its number: a broadcast that is begun in the first call.
  struct Opening {
    CommPointer comm;
    std::uint64_t id = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  /// `describe(comm, caller)` returns the part that this rank takes in a call on `handle`, and the record of it.
  template <typename Describe>
  [[nodiscard]] int compare(MPI_Comm handle, Mode mode, const void* return_address, const Describe& describe);
  void compare_end(const void* return_address);
  [[nodiscard]] CommPointer find(MPI_Comm handle, int* error);
  /// The ranks of a communicator in MPI_COMM_WORLD; none if its calls cannot be compared.
  [[nodiscard]] std::vector<Rank> comparable(MPI_Comm comm) const;
  void attach(MPI_Comm comm, CommPointer checked) const;
  /// Begins to agree on the number of a communicator, unless that is done or under way. Returns an MPI error code.
  [[nodiscard]] int begin_open(MPI_Comm handle, const CommPointer& comm);
  void open(const Opening& opening);
  [[nodiscard]] bool is_opening(const CommPointer& comm);
  [[nodiscard]] std::uint64_t new_id();
  void advance();
  void forget_freed();
  void wait(CheckedComm& comm, const CheckedCall& call);
  [[nodiscard]] int call_errhandler(MPI_Comm comm) const;
  void drain();
  static int forget(MPI_Comm comm, int keyval, void* value, void* extra);

  std::atomic<bool> done_{false};
  std::atomic<std::thread::id> busy_{};  // the thread that uses what follows
  CheckShared shared_;
  std::unordered_map<std::uint64_t, CommPointer> comms_;
  /// About communicators that this rank does not know yet.
  std::unordered_map<std::uint64_t, std::vector<std::pair<CheckPacket, std::string>>> early_;
  std::atomic<bool> any_freed_{false};

  std::list<Opening> openings_;
  std::atomic<std::size_t> opening_{0};  // their number, for those who have no turn
  CommPointer world_;
  Callers callers_;
  int world_rank_ = 0;
  std::atomic<std::uint64_t> ids_{0};
  int keyval_ = MPI_KEYVAL_INVALID;
  int error_ = MPI_ERR_OTHER;
};

}  // namespace circoll::interpose
