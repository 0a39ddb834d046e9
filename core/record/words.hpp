// Calls and their places in words, for verdicts and tables.
#pragma once

#include <cstdint>
#include <string>

#include "record/diagnosis.hpp"
#include "record/reader.hpp"

namespace circoll::record {

/// A place in the order of calls on a communicator.
struct Place {
  std::uint64_t comm = 0;
  std::uint64_t number = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a defaulted comparison for a pointer
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// "MPI_Bcast", "MPI_Ibcast", "MPI_Start of MPI_Bcast_init".
[[nodiscard]] std::string function_name(const ReadCall& call);
/// The call alone, as all ranks of a correct program make it: "MPI_Bcast of 400 bytes as int32, root 0".
[[nodiscard]] std::string arguments_text(const ReadCall& call);
/// "call 5 on MPI_COMM_WORLD".
[[nodiscard]] std::string place_text(const Place& place, const ReadRecord& record);

[[nodiscard]] inline Rank number_of(const SeenRank& rank) { return rank.record.rank; }
/// True if the rank is in MPI_Finalize or behind it.
[[nodiscard]] inline bool is_over(const SeenRank& rank) { return rank.record.phase != Phase::running; }

}  // namespace circoll::record
