// Recursive multiplying: places of ranks in digits of several bases, and the rest of the ranks folded onto them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "patterns/butterfly.hpp"
#include "patterns/trees.hpp"

namespace circoll::patterns {

/// The levels of recursive multiplying with a radix k. There are m k^e places, where k^e is the largest power that is
/// at most p, and m = floor(p / k^e) < k. All digits of a place have base k but the first, which has base m. On a level
/// the places that differ in one digit form a group. Ranks beyond the places are folded: they are fewer than k^e.
class Multiplying {
 public:
  struct Level {
    Rank unit;     ///< the weight of the digit
    Rank members;  ///< its base
  };

  Multiplying(Rank p, std::int64_t radix) : folding_(p, p) {
    Rank unit = 1;
    for (; radix <= p / unit; unit *= radix) levels_.push_back({unit, radix});
    if (p / unit > 1) levels_.push_back({unit, p / unit});
    folding_ = PairFolding(p, p / unit * unit);
  }

  [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }
  [[nodiscard]] const PairFolding& folding() const { return folding_; }
  /// Rounds of all levels: a member exchanges with the others one after the other.
  [[nodiscard]] std::int64_t rounds() const {
    std::int64_t rounds = 0;
    for (const Level& level : levels_) rounds += level.members - 1;
    return rounds;
  }
  /// 1 if there are folded ranks, else 0.
  [[nodiscard]] std::int64_t folds() const { return folding_.pairs() > 0 ? 1 : 0; }

 private:
  std::vector<Level> levels_;
  PairFolding folding_;
};

/// CriticalPath::levels. The vector of a folded rank passes all levels. On its way to another folded rank it passes
/// those on which the two places differ.
[[nodiscard]] inline std::int64_t multiplying_levels(const Shape& shape) {
  const std::int64_t k = value_of(shape, radix_above_two);
  const Multiplying places(shape.size, k);
  const auto levels = static_cast<std::int64_t>(places.levels().size());
  if (places.folds() == 0) return levels;
  std::int64_t between_folded = 0;
  for (Rank last = places.folding().pairs() - 1; last > 0; last /= k) ++between_folded;
  return std::max(levels + 1, between_folded + 2);
}

/// The rounds of `blocks(level)` blocks that go at once. A level waits for the one before, the first one for the folded
/// vectors, which are of `folded` blocks on both ways.
template <typename Blocks>
[[nodiscard]] RoundsOnPorts multiplying_at_once(const Multiplying& places, std::int64_t ports, std::int64_t folded,
                                                const Blocks& blocks) {
  RoundsOnPorts result{.one_way = 2 * places.folds(), .one_way_volume = folded * places.folds()};
  result.rounds = result.one_way;
  for (const Multiplying::Level& level : places.levels()) {
    const std::int64_t rounds = groups_of(level.members - 1, ports);
    result.rounds += rounds;
    result.volume += rounds * blocks(level);
  }
  return result;
}

/// Algorithm::on_ports of whole vectors.
[[nodiscard]] inline RoundsOnPorts multiplying_on_ports(const Shape& shape, std::int64_t ports) {
  const Multiplying places(shape.size, value_of(shape, radix_above_two));
  return multiplying_at_once(places, ports, 2, [](const Multiplying::Level&) { return std::int64_t{1}; });
}

/// Algorithm::on_ports of an allgather, and of its reversal with memory for `radix` messages. Messages of the first
/// place have the most blocks, because folded ranks are at the first places.
[[nodiscard]] inline RoundsOnPorts multiplying_parts_on_ports(const Shape& shape, std::int64_t ports) {
  const Multiplying places(shape.size, value_of(shape, radix_above_two));
  return multiplying_at_once(places, ports, shape.size, [&](const Multiplying::Level& level) {
    return level.unit + std::min(level.unit, places.folding().pairs());
  });
}

// Formulas that recursive multiplying of all collectives shares. There are m radix^e places.
inline constexpr std::string_view multiplying_rounds =
    "(radix-1) e + m-1 + one_way, m = floor(p/radix^e), e = sum(i, 1, q, [radix^i <= p])";
inline constexpr std::string_view multiplying_one_way = "2[p mod radix^e > 0], e = sum(i, 1, q, [radix^i <= p])";
/// Blocks of one rank each that the first place sends on all levels.
inline constexpr std::string_view multiplying_volume =
    "sum(i, 0, e-1, (radix-1) (radix^i + min(radix^i, d))) + (m-1) (radix^e + d), "
    "m = floor(p/radix^e), d = p mod radix^e, e = sum(i, 1, q, [radix^i <= p])";

/// The formula of whole vectors.
inline constexpr CostFormula multiplying_whole_vectors{.rounds = multiplying_rounds,
                                                       .sent = "rounds - one_way/2",
                                                       .reduced = "rounds - one_way/2",
                                                       .two_way = "rounds - one_way",
                                                       .one_way = multiplying_one_way,
                                                       .volume = "rounds - one_way",
                                                       .one_way_volume = "one_way",
                                                       .combined = "rounds - one_way/2"};

}  // namespace circoll::patterns
