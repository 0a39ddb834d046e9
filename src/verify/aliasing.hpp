// Within one step: does it write a slot twice, or over something that it still has to read?
#pragma once

#include <optional>
#include <string>

#include "circoll/schedule.hpp"

namespace circoll::verify {

/// What is wrong, and with which block.
struct Aliasing {
  Block block;
  std::string what;
};

/// Executors may do the blocks of a step in any order and in one piece: the destination must name each slot once, and
/// an operand of a reduction or copy may share slots with it only block by block (dst = left or dst = right), never
/// shifted, and never through another view of its memory.
[[nodiscard]] std::optional<Aliasing> find_aliasing(const Schedule& schedule, const Step& step);

}  // namespace circoll::verify
