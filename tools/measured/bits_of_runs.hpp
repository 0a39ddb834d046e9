// Records of CIRCOLL_BITS_RECORD of several runs of one program, and the first calls whose bits differ among them.
//
// A record is a directory with a file for each rank, rank-R.bits. Its lines are
//   circoll_bits 1 rank 0 of 4
//   site SITE PLACE                          a place in the program that calls
//   comm COMM NAME SIZE RANKS                a communicator; NAME is the same in all records
//   call COMM NUMBER SITE COLLECTIVE TYPE OP BYTES ROOT GIVEN GOT ALGORITHM
//   end CALLS unseen CALLS                   written in MPI_Finalize
// NUMBER counts the calls of this rank on the communicator from 1. GIVEN and GOT are hashes of the contribution and of
// the result, in hexadecimal digits. GOT is "-" if the result is not known: the call has failed, or it was nonblocking
// and native. TYPE and OP are "-" where nothing is reduced.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"

namespace circoll {

/// One rank's part of a call.
struct RankBits {
  std::uint64_t given = 0, got = 0;  ///< hashes
  bool has_result = false;           ///< `got` is known
  std::size_t order = 0;             ///< the number of calls of the rank before it
  std::int32_t kind = 0;             ///< of RunBits::kinds
  std::int32_t served_by = 0;        ///< of RunBits::algorithms
  std::int64_t bytes = 0;
  std::int32_t root = -1;
};

/// A call of all ranks of a communicator, in their order in MPI_COMM_WORLD.
using CallBitsOfRanks = std::vector<RankBits>;

struct CommBits {
  std::string ranks{};                   ///< "0,1,2,3"; of many the first ones, and "..."
  std::int64_t size = 0;                 ///< their number
  std::vector<CallBitsOfRanks> calls{};  ///< in the order of their numbers
};

/// The properties that calls of one kind share.
struct BitsKindName {
  std::string collective{}, type{}, op{}, place{};
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a defaulted comparison for a pointer
  friend auto operator<=>(const BitsKindName&, const BitsKindName&) = default;
};

/// The records of all ranks of one run.
struct RunBits {
  std::string name{};
  std::int64_t ranks = 0;
  std::vector<BitsKindName> kinds{};
  std::vector<std::string> algorithms{};
  std::map<std::string, CommBits> comms{};  ///< by NAME
  std::int64_t unseen = 0;                  ///< calls that have no line: the most of any rank
};

/// Reads the records of one run. Throws Error(parse) with the file and line of what is wrong, and where a rank has no
/// record, or one without an end. Throws Error(invalid_argument) if there is no such directory.
[[nodiscard]] RunBits read_bits_of_run(const std::string& directory, const std::string& name);

/// A place of a first difference.
struct BitsPlace {
  std::string comm{};       ///< NAME; empty: there is no such place
  std::string ranks{};      ///< of the communicator, as CommBits
  std::int64_t size = 0;    ///< its number of ranks
  std::int64_t number = 0;  ///< of the call on it
  std::size_t order = 0;    ///< calls before it at the communicator's first rank
  std::string caller{};     ///< the place in the program; only of calls that the first run has
};

/// The calls of one kind, compared with the first run.
struct BitsOfKind {
  BitsKindName name{};
  std::int64_t calls = 0;    ///< in the first run
  std::int64_t changed = 0;  ///< of them, in some run: equal contributions, another result
  BitsPlace first{};
  /// The algorithms of the first run, and those of other runs that have changed bits: "linear (RUN)".
  std::set<std::string> served_by{}, changed_by{};
};

/// One run, compared with the first one.
struct BitsOfRun {
  std::string name{};
  std::int64_t changed = 0;  ///< calls with equal contributions and another result
  std::int64_t others = 0;   ///< calls whose contributions differ already
  std::int64_t unknown = 0;  ///< calls with equal contributions of which a result is not known in one of the runs
  BitsPlace first_other{};
  BitsPlace parted{};  ///< from here on the program makes other calls
};

struct BitsComparison {
  std::int64_t ranks = 0, calls = 0, unseen = 0;
  std::string first_run{};
  std::vector<BitsOfRun> runs{};    ///< without the first one
  std::vector<BitsOfKind> kinds{};  ///< those that change bits come first, in the order of their first changes

  [[nodiscard]] bool changes_bits() const { return !kinds.empty() && kinds.front().changed > 0; }
  /// True if numbers differ in some run before any recorded call has changed bits there.
  [[nodiscard]] bool differs_by_itself() const;
};

/// Compares runs with the first of them. Throws Error(invalid_argument) if there are fewer than two, or if they have
/// different numbers of ranks.
[[nodiscard]] BitsComparison compare_bits(const std::vector<RunBits>& runs);

/// The comparison for people, with the verdict in the first line, and for programs.
[[nodiscard]] std::string bits_text(const BitsComparison& all);
[[nodiscard]] std::string bits_json(const BitsComparison& all);

}  // namespace circoll
