// The steps of schedules that a program becomes, with the blocks that they move, before their memory is laid out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "msccl/cells.hpp"
#include "msccl/units.hpp"

namespace circoll::msccl {

/// A block in a cell, or at its place in staging memory.
struct Piece {
  CellIndex cell = -1;  ///< -1: in staging memory
  Block block = -1;
};
using Pieces = std::vector<Piece>;

struct Action {
  StepKind kind = StepKind::copy;  ///< send, recv, reduce or copy
  Rank peer = -1;
  std::uint32_t other = 0;  ///< of messages: the action of the peer
  Pieces dst{}, left{}, right{};
  std::int32_t staging = -1;  ///< the staging memory that it uses
  UnitIndex unit = no_unit;
  std::vector<std::uint32_t> after{};  ///< actions of the rank that it waits for, whatever they touch
};

/// The life of a cell in the course of the program.
struct CellLife {
  std::vector<Block> blocks{};  ///< different ones that it has held where a step read or wrote it, in their order
  Block last = -1;
  bool written = false;
  bool initial_read = false;  ///< its contents before the call were used
  UnitIndex last_writer = no_unit;
};

/// The actions of one rank.
struct RankActions {
  std::vector<Action> actions{};
  std::vector<CellLife> lives{};
  std::int32_t stagings = 0;
};

/// Two steps that nothing orders, though they use one chunk.
struct Race {
  Rank rank = 0;
  std::uint32_t action = 0;  ///< the later one
  UnitIndex earlier = no_unit;
  UnitIndex later = no_unit;
  Block block = -1;
};

/// The actions of all ranks.
struct Actions {
  std::vector<RankActions> ranks{};
  std::optional<Race> race{};
};

/// Follows the blocks through all units. Throws Error(refuted), naming the line, if a chunk is read that holds nothing.
[[nodiscard]] Actions trace(const Units& units, const std::vector<Cells>& cells, const Program& program);

}  // namespace circoll::msccl
