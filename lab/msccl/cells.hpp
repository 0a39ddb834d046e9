// The memory of a rank, chunk by chunk, and what the collective says about it.
#pragma once

#include <cstdint>
#include <vector>

#include "circoll/schedule.hpp"
#include "msccl/program.hpp"

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
  Cells(const Program& program, Rank rank);

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

}  // namespace circoll::msccl
