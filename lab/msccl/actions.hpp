// The steps of schedules that a program becomes, with the blocks that they move, before their memory is laid out.
//
// Cells are the memory of a rank as the program sees it, chunk by chunk, and what the collective says about it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "circoll/schedule.hpp"
#include "msccl/program.hpp"
#include "msccl/units.hpp"

namespace circoll::msccl {

using CellIndex = std::int32_t;

/// A slot of a caller's buffer; buffer -1 is none.
struct Home {
  std::int32_t buffer = -1;
  Slot slot = 0;

  [[nodiscard]] bool exists() const { return buffer >= 0; }
  friend bool operator==(const Home&, const Home&) = default;
};

/// A chunk of memory. In place, one is both in the input and in the output.
struct Cell {
  Home from{};  ///< the slot with its contents before the call
  Home to{};    ///< the slot where its contents are a result
};

/// The cells of one rank.
class Cells {
 public:
  Cells(const MscclProgram& program, Rank rank);

  [[nodiscard]] std::size_t size() const { return cells_.size(); }
  [[nodiscard]] bool in_place() const { return in_place_; }
  [[nodiscard]] const Cell& operator[](CellIndex cell) const { return cells_[static_cast<std::size_t>(cell)]; }
  [[nodiscard]] CellIndex of(const Chunk& chunk, std::int32_t i) const;
  /// The rank's schedule without steps and scratch memory.
  [[nodiscard]] const Schedule& frame() const { return frame_; }
  /// The block of a slot of the caller's.
  [[nodiscard]] Block block_of(const Home& home) const { return frame_.block_of(home.buffer, home.slot); }

 private:
  Schedule frame_;
  bool in_place_ = false;
  std::vector<Cell> cells_;
  CellIndex input_ = 0;  ///< the first cell of each buffer
  CellIndex output_ = 0;
  CellIndex scratch_ = 0;
};

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
};

/// The actions of one rank.
struct RankActions {
  std::vector<Action> actions{};
  std::vector<CellLife> lives{};
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
[[nodiscard]] Actions trace(const Units& units, const std::vector<Cells>& cells, const MscclProgram& program);

// Rounds for steps that have an order, but no rounds (rounds.cpp).

/// Schedules of all ranks without rounds, each in an order that its dependencies allow. The message of step i of rank r
/// has its other end at step other[r][i] of the peer.
struct Unrounded {
  std::vector<Schedule> ranks{};
  std::vector<std::vector<StepIndex>> other{};
};

/// The step with which ranks wait for one another forever, if every send waits until it is received.
struct Stuck {
  Rank rank = 0;
  StepIndex step = 0;
};

/// Gives every message the first possible round, then sorts the steps by rounds. A possible round is later than the
/// rounds of messages that either end waits for, and both ranks are free in it. Returns, for each rank, the former
/// number of each step. Throws Stuck.
[[nodiscard]] std::vector<std::vector<StepIndex>> assign_rounds(Unrounded& all);

}  // namespace circoll::msccl
