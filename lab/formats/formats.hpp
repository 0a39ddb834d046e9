// Schedules in forms that other tools read: GOAL for simulators, DOT for drawings, Chakra traces for ASTRA-sim.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/schedule.hpp"

namespace circoll {

/// The head of a GOAL text for p ranks. The texts of ranks 0 .. p-1 follow it.
[[nodiscard]] std::string goal_head(Rank p);

/// A rank's schedule in GOAL, the text that LogGOPSim, ATLAHS and htsim read.
///
/// `bytes` is the vector of docs/lab/notation.md (m), of which the user blocks are equal parts but for a byte. Messages
/// have one byte at least, since readers misprice others. A combination is a calculation of `gamma_ns_per_byte` for
/// each of its bytes, rounded to nanoseconds, and a copy one of none. Tags number the messages from one rank to
/// another. Throws Error(invalid_argument) if check_structure() does, or for negative bytes or prices.
[[nodiscard]] std::string to_goal(const Schedule& schedule, Count bytes, double gamma_ns_per_byte = 0);

/// The place of a collective in the program of a rank, whose items have numbers: steps, and times of computation.
struct InProgram {
  std::int64_t first_item = 0;        ///< of the first step; the others follow
  std::span<const Rank> members{};    ///< the program's ranks, by ranks of the schedule; empty: the same
  std::int64_t first_tag = 0;         ///< of the messages from one rank to another
  std::vector<std::int64_t> after{};  ///< items that come before all steps
};
/// The items of a collective that none of its steps waits for.
[[nodiscard]] std::vector<std::int64_t> last_items(const Schedule& schedule, std::int64_t first_item);

/// A part of a rank's program in GOAL, between goal_begin() and goal_end. It is the rank's steps of a collective, or an
/// item that computes for a time. Numbers and errors are as for to_goal().
[[nodiscard]] std::string goal_begin(Rank rank);
inline constexpr std::string_view goal_end = "}\n";
[[nodiscard]] std::string goal_steps(const Schedule& schedule, Count bytes, double gamma_ns_per_byte,
                                     const InProgram& place);
[[nodiscard]] std::string goal_computation(std::int64_t item, std::int64_t time_ns,
                                           std::span<const std::int64_t> after);

/// All ranks' steps as a graph in DOT.
///
/// Each rank is a cluster with its dependencies, and each message a dashed edge. Throws Error(invalid_argument) if
/// check_structure() does, or if messages have no other end.
[[nodiscard]] std::string to_dot(std::span<const Schedule> ranks);

/// A rank's schedule as a Chakra execution trace, the whole content of the file PREFIX.<rank>.et. ASTRA-sim takes it
/// for a collective of its user's own.
///
/// It is a sequence of messages of et_def.proto (mlcommons/chakra), each after its length: GlobalMetadata of version
/// 1.0.0, then a Node for each step in program order. Sends and receives are communication nodes with their length,
/// peer, and a tag that numbers the messages from one rank to another. Combinations and copies are compute nodes. All
/// nodes name the nodes that they wait for as data dependencies.
///
/// `bytes` is the vector of docs/lab/notation.md (m), of which the user blocks are equal parts but for a byte. Messages
/// have one byte at least, since ASTRA-sim refuses others. A combination takes `gamma_us_per_byte` for each of its
/// bytes, rounded to microseconds, the unit of the format. Throws Error(invalid_argument) if check_structure() does,
/// for negative bytes or prices, and if a rank or tag exceeds 2^31 - 1.
[[nodiscard]] std::string to_chakra(const Schedule& schedule, Count bytes, double gamma_us_per_byte = 0);

/// The same for a rank of a program as for goal_steps(). chakra_head() comes first in its file.
[[nodiscard]] std::string chakra_head();
[[nodiscard]] std::string chakra_steps(const Schedule& schedule, Count bytes, double gamma_us_per_byte,
                                       const InProgram& place);
[[nodiscard]] std::string chakra_computation(std::int64_t item, std::int64_t time_us,
                                             std::span<const std::int64_t> after);

}  // namespace circoll
