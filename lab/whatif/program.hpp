// A recorded program as the player needs it: collectives that ranks make together, and the time between them.
//
// program_of() makes it of a trace (facts/call_trace.hpp). play.hpp plays it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/select.hpp"
#include "facts/call_trace.hpp"

namespace circoll::whatif {

/// The ranks of a communicator.
struct Group {
  std::vector<Rank> members{};  ///< of the program, in the order of ranks
  Rank cores = 1;               ///< ranks on a node, node by node; 1 also where they lie otherwise
  Rank nodes = 1;               ///< with members on them
  bool node_by_node = true;
};

/// Properties that collectives of a program have in common.
struct Kind {
  Collective collective = Collective::barrier;
  Rank p = 1;
  Rank cores = 1;
  Rank nodes = 1;
  bool node_by_node = true;
  Rank root = 0;
  Count bytes = 0;  ///< of the vector of docs/lab/notation.md; irregular blocks count as equal ones of the same sum
  trace::OperatorFacts op{};
  std::string served{};             ///< "native", or the algorithm that served it
  std::int64_t recorded_calls = 0;  ///< in which all ranks blocked; 0 for more ranks than were recorded
  double recorded_s = 0;            ///< of such a call from the last arrival to the last end, the mean
};
/// The facts by which a policy decides.
[[nodiscard]] CallFacts facts_of(const Kind& kind);

/// A collective that the members of a group make together.
struct Operation {
  std::uint32_t kind = 0;
  std::uint32_t group = 0;
};

/// A call of one rank.
struct Entry {
  double gap_s = 0;  ///< since its call before has returned, or since the program has begun
  std::uint32_t operation = 0;
  std::uint32_t position = 0;  ///< of the rank in the group
  bool blocks = true;
};

struct RankProgram {
  std::vector<Entry> entries{};
  double begin_s = 0;  ///< after the first rank's begin
  double tail_s = 0;   ///< from its last call to its end
};

/// Times of a run, as it was recorded or as it was played. A rank waits in a blocking collective until the last rank
/// has come, or until its own call returns.
struct Times {
  double run_s = 0;                        ///< from the first rank's begin to the last rank's end
  std::vector<double> in_collectives_s{};  ///< of each rank, in blocking calls
  std::vector<double> waiting_s{};         ///< of each rank, of these
  [[nodiscard]] double mean_in_collectives_s() const;
  [[nodiscard]] double mean_waiting_s() const;
};

struct Program {
  Rank ranks = 1;
  std::string name{};
  std::string mpi{};
  std::vector<Group> groups{};
  std::vector<Kind> kinds{};
  std::vector<Operation> operations{};
  std::vector<RankProgram> programs{};
  Times recorded{};            ///< empty for more ranks than were recorded
  std::int64_t calls = 0;      ///< that are played, of all ranks
  std::int64_t neighbors = 0;  ///< calls among neighbours, which count as time between calls
  std::int64_t foreign = 0;    ///< likewise calls on communicators with processes of other programs
  std::int64_t overlaps = 0;   ///< calls that began before the one before had returned, in another thread
};

/// The program of a trace. With more ranks than were recorded, rank r does what rank r mod p did, on communicators of
/// all ranks or of one. Amounts follow as in weak scaling: each rank contributes what it did, and a block to each other
/// rank. Throws Error(invalid_argument) with the reason if that has no meaning, Error(parse) if ranks did not record
/// the same collectives. `cores` ranks are on a node; 0: as many as were recorded.
[[nodiscard]] Program program_of(const trace::Trace& trace, Rank ranks, Rank cores = 0);

/// Gives each rank before each collective the mean of the members' times between calls.
void balance(Program& program);

}  // namespace circoll::whatif
