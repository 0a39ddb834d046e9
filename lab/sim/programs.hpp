// Schedules as the simulator keeps them: the order of steps, and the amounts that they move or combine.
//
// Most algorithms let many ranks do the same steps with other peers. The common steps are a program, which is kept
// once. A rank has a pointer to its program and the list of its peers.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "circoll/algorithm.hpp"

namespace circoll::sim {

/// One step of a program.
struct Op {
  StepKind kind = StepKind::copy;
  bool is_first = false;                ///< it waits for no other step, but for its rank to begin
  bool releases_receives_only = false;  ///< nothing but receives waits for it
  std::uint32_t round = 0;
  std::uint32_t message = 0;          ///< index of its peer
  std::uint32_t first_successor = 0;  ///< of successors, up to that of the next step
  std::uint32_t waits = 0;            ///< for steps; for the rank to begin; a receive for its message
  double blocks = 0;                  ///< moved or combined
};

/// The steps of a rank, without the numbers of its peers.
struct StepGraph {
  std::vector<Op> ops;  ///< and one more, which ends the lists of successors
  std::vector<StepIndex> successors;
  std::vector<StepIndex> receives;  ///< by round
  std::vector<StepIndex> sends;     ///< by round
  std::uint32_t messages = 0;

  [[nodiscard]] std::size_t steps() const { return ops.size() - 1; }
};

/// A rank's program and its peers, by Op::message.
struct RankProgram {
  const StepGraph* program = nullptr;
  const std::uint32_t* peers = nullptr;
};

/// The programs of all ranks.
struct Programs {
  std::vector<RankProgram> ranks;
  std::deque<StepGraph> distinct;
  std::vector<std::vector<std::uint32_t>> peers;  ///< of the ranks, in chunks that never move
  double vector_blocks = 1;                       ///< blocks in the vector of a rank
  bool moves_data = true;                         ///< false: messages have no bytes (a barrier)
  std::int64_t steps = 0;
  std::int64_t messages = 0;
  std::uint32_t most_waits = 0;  ///< of any step
};

}  // namespace circoll::sim
