// The record of one rank's call that CIRCOLL_MATCH compares, and the place in the program that the call comes from.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "circoll/types.hpp"
#include "exec/mpi/call/call.hpp"
#include "exec/mpi/comm/made_calls.hpp"
#include "exec/mpi/serve/neighbor_operation.hpp"
#include "interpose/check_message.hpp"
#include "interpose/event.hpp"

namespace circoll::interpose {

/// Finds the program's own code behind the layers of other languages. Thread-safe.
class Callers {
 public:
  /// The `return_address` of an entry point, or the first one on the stack outside of MPI. The latter holds if the
  /// former lies in a library of MPI (a Fortran binding, say). To be called while the entry point has not returned.
  [[nodiscard]] const void* outside_mpi(const void* return_address);

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, bool> in_mpi_;  ///< of the return addresses seen so far
};

/// "main+0x1f (./program+0x1139)": symbol, if it is a dynamic one, and file with the offsets of the call.
[[nodiscard]] std::string place_text(const void* return_address);

/// Needs nothing of the program after it is made: handles in it are MPI's own.
class CheckRecord {
 public:
  /// A call at a rank that takes part in it.
  CheckRecord(const mpi::Call& call, Mode mode, Rank rank, Rank size, const void* caller);
  /// The same among neighbours.
  CheckRecord(const mpi::NeighborCall& call, const Neighborhood& neighborhood, const mpi::NeighborSides& sides,
              Mode mode, const void* caller);
  /// MPI_Finalize.
  explicit CheckRecord(const void* caller) : caller_(caller) {}

  /// A call that was served, as far as it is known later.
  explicit CheckRecord(const mpi::MadeCall& call);

  /// A hash of everything that is the same on all ranks of a program that is right.
  [[nodiscard]] std::uint64_t hash() const;
  /// The sum of this over all ranks is zero if each rank sends the amounts that the others expect. Otherwise it is most
  /// likely not zero.
  [[nodiscard]] std::uint64_t balance() const;
  [[nodiscard]] DescribedCall described() const;
  /// "MPI_Bcast of 40 bytes, root 0"
  [[nodiscard]] std::string text() const;

 private:
  void read_reduction(const mpi::Call& call, Rank size);
  void read_movement(const mpi::Call& call, Rank size);
  void read_own_block(const mpi::Call& call);
  void read_exchange(const mpi::Call& call, Rank size);
  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string amount_text() const;
  [[nodiscard]] std::string operator_text() const;

  std::optional<CalledCollective> called_{};  ///< none: MPI_Finalize
  Mode mode_ = Mode::blocking;
  Rank rank_ = 0;
  int root_ = -1;
  bool in_place_ = false;  ///< of an alltoall(v), where it must be so on all ranks
  bool user_op_ = false;
  bool commutes_ = true;
  std::optional<Op> op_{};
  MPI_Datatype element_ = MPI_DATATYPE_NULL;  ///< of a reduction, if predefined
  Count bytes_ = 0;                           ///< of a vector, or of each block
  std::vector<Count> blocks_{};               ///< in bytes, where all ranks know all
  std::vector<PeerBytes> sends_{};            ///< what must be what another rank expects
  std::vector<PeerBytes> expects_{};
  const void* caller_ = nullptr;
};

/// The part that a rank takes in a call, so that others may wait for it.
enum class Participation {
  makes,
  refused,  ///< the MPI library refuses the call for its arguments
  unknown,  ///< it may: an operator that this type may not have. Such calls are not compared.
};
/// Amounts that contradict one another at one rank are for the comparison to find.
[[nodiscard]] Participation part_of(const mpi::Call& call, Rank rank, Rank size);

}  // namespace circoll::interpose
