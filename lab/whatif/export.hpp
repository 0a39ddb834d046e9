// A recorded program in formats of other simulators: computation, and the messages of its collectives.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "whatif/play.hpp"

namespace circoll::whatif {

/// Messages of a pair of ranks in one collective have consecutive tags. Tags come again after a thousand collectives.
inline constexpr std::int64_t tags_of_collective = std::int64_t{1} << 20U;

/// The whole program in GOAL, part by part. A nonblocking collective is joined as Player::play() says. Throws as
/// to_goal().
void write_goal(const Program& program, const Choose& choose, const Machine& machine,
                const std::function<void(std::string_view part)>& sink);
/// One rank's Chakra execution trace, the content of PREFIX.<rank>.et. Times are in whole microseconds, so that short
/// times of computation are lost: the format has no smaller unit. Throws as to_chakra().
void write_chakra(const Program& program, const Choose& choose, const Machine& machine, Rank rank,
                  const std::function<void(std::string_view part)>& sink);

}  // namespace circoll::whatif
