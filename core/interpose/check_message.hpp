// The message of CIRCOLL_MATCH about calls that do not match, from each rank's description of its own. No MPI.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"
#include "facts/rank_list.hpp"

namespace circoll::interpose {

/// Bytes between a rank and another one.
struct PeerBytes {
  Rank peer = 0;
  Count bytes = 0;
  int edge = 0;  ///< number of the edge, where a graph has several from one rank to another
};

/// One rank's call, as the message names it.
struct DescribedCall {
  std::string call;        ///< "MPI_Bcast of 400 bytes, root 0"
  std::string caller;      ///< "main+0x1f (./program+0x1139)"
  std::uint64_t hash = 0;  ///< of what must be equal on all ranks
  std::vector<PeerBytes> sends{};
  std::vector<PeerBytes> expects{};

  /// Bytes for another rank of the same kind of machine, and the call from them. Bytes that are cut short give
  /// an empty call.
  [[nodiscard]] std::string serialised() const;
  [[nodiscard]] static DescribedCall from(std::string_view bytes);
};

/// A communicator as people know it.
struct DescribedComm {
  std::string name;               ///< MPI_Comm_get_name's; may be empty
  std::vector<Rank> world_ranks;  ///< of its ranks in MPI_COMM_WORLD
};

/// "1 byte", "400 bytes".
[[nodiscard]] std::string bytes_text(Count bytes);
/// "MPI_COMM_WORLD", "a communicator ("rows", ranks 0, 2 of MPI_COMM_WORLD)".
[[nodiscard]] std::string comm_text(const DescribedComm& comm);
/// The message about calls, one for each rank, that do not match. Ranks whose calls are alike share a line.
[[nodiscard]] std::string mismatch_text(const DescribedComm& comm, std::uint64_t number,
                                        std::span<const DescribedCall> calls);
/// The line of a rank that has waited for `seconds` for the others to make the same call.
[[nodiscard]] std::string waiting_text(const DescribedComm& comm, std::uint64_t number, Rank rank, int seconds,
                                       const DescribedCall& call);

}  // namespace circoll::interpose
