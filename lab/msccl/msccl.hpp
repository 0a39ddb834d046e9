// MSCCL's algorithms in XML: schedules written in it, and read from it for proofs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/schedule.hpp"
#include "circoll/verify.hpp"

namespace circoll {

/// The schedules of ranks 0 .. p-1 as an algorithm of MSCCL, as its runtimes read it (microsoft/msccl, RCCL).
///
/// A slot is a chunk. Each rank has a threadblock for every peer that it sends to, and one for every peer that it
/// receives from. Local steps that wait for none of these have other threadblocks. All threadblocks are on channel 0.
/// Messages are reduced as they arrive (combined_on_arrival). MSCCL's operators commute, so that the order of operands
/// is lost.
///
/// Throws Error(unsupported) for collectives that the format has no word for: those with a root, with blocks of
/// different sizes, prefixes and barriers. Throws Error(invalid_argument) if check_structure() does, or if a message
/// has only one end.
[[nodiscard]] std::string to_msccl(std::span<const Schedule> ranks);

/// The place in the XML that a step of a schedule comes from.
struct MscclPlace {
  int line = 0;         ///< from 1; of the XML
  int threadblock = 0;  ///< its id in the GPU
  int step = 0;         ///< its number in the threadblock
};

/// Schedules that were read from XML.
struct MscclSchedules {
  std::vector<Schedule> ranks{};                  ///< one for each GPU, in the order of ids
  std::vector<std::vector<MscclPlace>> places{};  ///< of every step, by rank
  /// Two steps of a rank use a chunk, one of them writes, and nothing in the XML orders them. Schedules order steps by
  /// the memory that they write, so a verifier of schedules cannot see this race. The claim is no_race, and the step is
  /// the later one.
  std::optional<Refutation> race{};
};

/// Reads an algorithm: allreduce, allgather, reducescatter (reduce_scatter), alltoall, in place or not.
///
/// Chunks become slots. Steps of threadblocks become steps, with explicit edges for the order of a threadblock and for
/// dependences. The reader follows the blocks from the call's buffers through all steps, and so finds which block a
/// chunk of scratch memory holds. A chunk that holds several blocks in turn becomes views. A threadblock goes on after
/// a send. A message that is combined arrives in scratch memory first. Consecutive steps of two threadblocks that wait
/// for nothing in between are one message. A greedy search finds the rounds. Schedules of reducescatter and alltoall
/// have no in-place form like MSCCL's: there chunks that are written are copied to scratch memory first, and back at
/// the end.
///
/// Throws Error, which names the line. The code is parse if the text is not of the format, and unsupported if it says
/// what schedules cannot. The code is refuted if a step waits forever or reads a chunk that holds nothing: then no
/// schedule says the same.
[[nodiscard]] MscclSchedules schedules_from_msccl(std::string_view xml);

}  // namespace circoll
