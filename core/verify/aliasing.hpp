// Within one step: does it write a slot twice, or over something that it still has to read?
#pragma once

#include <optional>
#include <string>

#include "circoll/schedule.hpp"

namespace circoll::verify {

/// A wrong overlap of operands, and its block.
struct Aliasing {
  Block block;
  std::string what;
};

/// Finds an overlap that breaks a step whose blocks are done in any order and in one piece. Executors may do so. The
/// destination must name each slot once, and an operand of a reduction or copy may share slots with it only block by
/// block (dst = left or dst = right), never shifted, and never through another view of its memory. A message that is
/// combined as it arrives shares no slot with the other operand, and none with the result but block by block.
[[nodiscard]] std::optional<Aliasing> find_aliasing(const Schedule& schedule, const Step& step);

}  // namespace circoll::verify
