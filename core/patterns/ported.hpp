// Allgathers for several ports, their reversals, and the rounds that go at once.
//
// Blocks are counted from the own rank: block d is that of rank r + d. A rank has the blocks of an interval around 0,
// and each level makes it up to k + 1 times as long, by k messages that do not wait for one another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"

namespace circoll::patterns {

/// The parameter of algorithms on a circulant graph for several ports.
inline constexpr ParamDeclaration ports{
    .name = "ports", .minimum = 2, .maximum = 64, .fallback = 2, .summary = "messages of a rank at a time"};

/// A round of an allgather in which all ranks do the same.
struct GatherRound {
  int level;
  Rank peer;    ///< the message comes from rank r + peer, and another one goes to r - peer
  Rank first;   ///< block that comes, with those after it
  Rank sent;    ///< block that goes, with those after it
  Rank blocks;  ///< in either message
};

/// Rounds by which intervals grow upwards, for the parameter `ports`. They have s_k blocks before level k and s_{k+1}
/// after it, where s_k = ceil(s_{k+1} / (ports + 1)) (Skips). The messages of a level have equally many blocks, up to
/// one.
[[nodiscard]] std::vector<GatherRound> upward_rounds(const Shape& shape);
/// Rounds by which intervals grow on both sides at once, for two ports. A level has one distance, s_k.
[[nodiscard]] std::vector<GatherRound> two_sided_rounds(const Shape& shape);
/// Rounds of the digits of a base. On the level of weight u, u blocks come from rank r + d u, for 0 < d < base.
[[nodiscard]] std::vector<GatherRound> digit_rounds(Rank p, std::int64_t base);

/// The cost of an allgather of upward or two-sided rounds, and that of its reversal. In O(levels).
[[nodiscard]] Cost cost_of_gather(const Shape& shape, std::int64_t ports);
[[nodiscard]] Cost cost_of_reversal(const Shape& shape, std::int64_t ports);
/// The number of rounds as a formula, for the parameter `ports` and for two-sided rounds, and twice as many.
inline constexpr std::string_view gather_rounds_formula =
    "sum(i, 0, q-1, min(ports, ceil(p/b^i) - ceil(p/b^(i+1)))), b = ports + 1";
inline constexpr std::string_view twice_gather_rounds_formula =
    "2 sum(i, 0, q-1, min(ports, ceil(p/b^i) - ceil(p/b^(i+1)))), b = ports + 1";
inline constexpr std::string_view two_sided_rounds_formula = "sum(i, 0, q-1, min(2, ceil(p/3^i) - ceil(p/3^(i+1))))";
inline constexpr std::string_view twice_two_sided_rounds_formula =
    "2 sum(i, 0, q-1, min(2, ceil(p/3^i) - ceil(p/3^(i+1))))";

/// Writes an allgather of these rounds.
void gather_by_rounds(Builder& builder, std::span<const GatherRound> rounds);

/// CriticalPath::levels of these rounds, and of the reduce_scatter that is their reversal. O(rounds^2).
[[nodiscard]] std::int64_t levels_of_gather(std::span<const GatherRound> rounds);
[[nodiscard]] std::int64_t levels_of_reversal(std::span<const GatherRound> rounds, std::int64_t memory);

/// The rounds that wait for one another, the same at all ranks.
struct Waits {
  std::vector<std::int64_t> blocks{};  ///< of each round's message
  std::vector<std::int64_t> latest{};  ///< the latest round that a message of each round waits for; -1: none
};
[[nodiscard]] Waits waits_of_gather(std::span<const GatherRound> rounds);
/// Those of the reversal, with memory for so many messages that are not combined yet.
[[nodiscard]] Waits waits_of_reversal(std::span<const GatherRound> rounds, std::int64_t memory);

/// Algorithm::on_ports of these rounds.
[[nodiscard]] RoundsOnPorts at_once(const Waits& waits, std::int64_t ports);

/// Messages of a reversal in memory before they are combined: one more than arrive at a time.
[[nodiscard]] constexpr int memory_of_messages(std::int64_t ports) { return static_cast<int>(ports) + 1; }

}  // namespace circoll::patterns
