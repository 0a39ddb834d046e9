// The messages of a picture, round by round, read from the schedules of all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "circoll/schedule.hpp"

namespace circoll::picture {

struct Arrow {
  Rank from = 0;
  Rank to = 0;
  std::int64_t blocks = 0;
  std::string contents{};  ///< "blocks 3-5, 8"
};

/// The messages and ranks of one picture.
struct Scene {
  Rank size = 1;
  Rank focus = 0;  ///< the highlighted rank
  std::vector<std::vector<Arrow>> rounds;
  std::map<std::pair<Rank, Rank>, std::vector<std::size_t>> links;  ///< (from, to) -> rounds
};

/// Throws Error(invalid_argument) as to_svg() does.
[[nodiscard]] Scene scene_of(std::span<const Schedule> ranks);

}  // namespace circoll::picture
