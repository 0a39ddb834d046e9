// Hashes of what a rank gives to a call and gets from it, equal in all runs for equal bits.
#pragma once

#include <cstdint>
#include <vector>

#include "circoll/types.hpp"
#include "exec/mpi/call/call.hpp"

namespace circoll::interpose {

/// The contribution and the result of one call at one rank, as places in the caller's memory. The arguments must be
/// right (CallerBuffers::erroneous).
class CallBits {
 public:
  CallBits(const mpi::Call& call, Rank rank, Rank size);

  /// The hash of the contribution. Where it lies in the receive buffer it must be asked for before the call is made.
  [[nodiscard]] std::uint64_t contribution() const { return hash(given_); }
  /// The hash of the result, after the call.
  [[nodiscard]] std::uint64_t result() const { return hash(got_); }

 private:
  struct Piece {
    const char* begin = nullptr;
    Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };

  void read_reduction(const mpi::Call& call, Rank rank, Rank size);
  void read_movement(const mpi::Call& call, Rank rank, Rank size);
  [[nodiscard]] static std::uint64_t hash(const std::vector<Piece>& pieces);

  std::vector<Piece> given_, got_;
};

}  // namespace circoll::interpose
