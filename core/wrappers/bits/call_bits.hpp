// Hashes of what a rank gives to a call and gets from it, equal in all runs for equal bits.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "circoll/types.hpp"
#include "exec/mpi/call/call.hpp"
#include "exec/mpi/call/datatype.hpp"

namespace circoll::interpose {

class BytesHash;

/// The contribution and the result of one call at one rank, as places in the caller's memory. The arguments must be
/// right (CallerBuffers::erroneous).
class CallBits {
 public:
  CallBits(const mpi::Call& call, Rank rank, Rank size);
  ~CallBits();
  CallBits(const CallBits&) = delete;
  CallBits& operator=(const CallBits&) = delete;

  /// Keeps what result() needs, before a nonblocking call is made. The program may free its datatypes meanwhile.
  void keep();
  /// The hash of the contribution, once. Where it lies in the receive buffer it must be asked for before the call is
  /// made.
  [[nodiscard]] std::uint64_t contribution() { return hash(std::exchange(given_, {})); }
  /// The hash of the result, after the call.
  [[nodiscard]] std::uint64_t result() const { return hash(got_); }

 private:
  struct Piece {
    const char* begin = nullptr;
    Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    mpi::TypeInfo info{};
  };

  [[nodiscard]] static Piece piece(const char* begin, Count count, MPI_Datatype type);
  static void add(BytesHash& hash, const Piece& piece);
  void read_reduction(const mpi::Call& call, Rank rank, Rank size);
  void read_movement(const mpi::Call& call, Rank rank, Rank size);
  [[nodiscard]] static std::uint64_t hash(const std::vector<Piece>& pieces);

  std::vector<Piece> given_, got_;
  std::vector<MPI_Datatype> kept_;  ///< to be freed
};

}  // namespace circoll::interpose
