// Arithmetic of declared costs and critical paths, and the parameter of segments that most of them count.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "circoll/algorithm.hpp"

namespace circoll::patterns {

/// The parameter of the algorithms that cut something into segments.
[[nodiscard]] constexpr ParamDeclaration segments_of(std::string_view summary, std::int64_t fallback = 1) {
  return {.name = "segments", .minimum = 1, .maximum = 1 << 20, .fallback = fallback, .summary = summary};
}
/// The parameter of those that cut a whole vector into blocks.
inline constexpr ParamDeclaration segments = segments_of("blocks that the vector is cut into");

/// Cuts every user block into as many segments as the parameter says. Returns their number.
inline std::int64_t cut(Builder& b, const ParamDeclaration& declared) {
  const std::int64_t n = b.param(declared.name, declared.fallback);
  b.cut(n);
  return n;
}

/// The value of a declared parameter.
[[nodiscard]] inline std::int64_t value_of(const Shape& shape, const ParamDeclaration& declared) {
  const auto given = shape.params.find(declared.name);
  return given == shape.params.end() ? declared.fallback : given->second;
}

/// The larger of every count: the maximum over two ranks.
[[nodiscard]] constexpr Cost most(const Cost& a, const Cost& b) {
  return {.rounds = std::max(a.rounds, b.rounds),
          .sent = std::max(a.sent, b.sent),
          .received = std::max(a.received, b.received),
          .reduced = std::max(a.reduced, b.reduced),
          .copied = std::max(a.copied, b.copied)};
}

/// The formula of an algorithm whose messages go one way only in every round. `volume` is that of its path.
[[nodiscard]] constexpr CostFormula one_way(CostFormula formula, std::string_view volume) {
  formula.two_way = "0";
  if (formula.one_way.empty()) formula.one_way = "rounds";
  formula.volume = "0";
  formula.one_way_volume = volume;
  return formula;
}

/// A path of rounds in which messages go one way only.
[[nodiscard]] constexpr CriticalPath one_way_path(std::int64_t blocks, std::int64_t rounds, std::int64_t volume,
                                                  std::int64_t combined = 0) {
  return {.blocks = blocks, .one_way = rounds, .one_way_volume = volume, .combined = combined};
}

/// A path of rounds whose messages are one of n blocks each, some of them one-way.
[[nodiscard]] constexpr CriticalPath pipelined_path(std::int64_t blocks, std::int64_t rounds, std::int64_t one_way) {
  return {.blocks = blocks, .one_way = one_way, .volume = rounds - one_way, .one_way_volume = one_way};
}

/// One path after another. Precondition: the same blocks.
[[nodiscard]] constexpr CriticalPath then(const CriticalPath& a, const CriticalPath& b) {
  return {.blocks = a.blocks,
          .one_way = a.one_way + b.one_way,
          .volume = a.volume + b.volume,
          .one_way_volume = a.one_way_volume + b.one_way_volume,
          .combined = a.combined + b.combined};
}

/// 1 if p = 1 and the contribution must be copied to the result.
[[nodiscard]] inline std::int64_t lonely_copy(const Shape& shape) { return shape.size == 1 && !shape.in_place ? 1 : 0; }

/// The groups of so many rounds that do not wait for one another, if ranks have several ports.
[[nodiscard]] constexpr std::int64_t groups_of(std::int64_t rounds, std::int64_t ports) {
  return (rounds + ports - 1) / ports;
}

/// No message waits for another one.
[[nodiscard]] inline std::int64_t one_level(const Shape& shape) { return shape.size > 1 ? 1 : 0; }
/// All messages of a first part, then those of a second.
[[nodiscard]] inline std::int64_t two_levels(const Shape& shape) { return 2 * one_level(shape); }
/// A line of all ranks, however many segments follow one another along it.
[[nodiscard]] inline std::int64_t line_levels(const Shape& shape) { return shape.size - 1; }
/// A binomial tree: the most ones that the number of a rank has in base 2, floor(log2 p).
[[nodiscard]] inline std::int64_t binomial_levels(const Shape& shape) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(shape.size))) - 1;
}
/// Ranges of blocks that double in ceil(log2 p) rounds. With p <= 3/4 of the next power of two, one of the rounds sends
/// only blocks that its rank had before the round before.
[[nodiscard]] inline std::int64_t doubling_levels(const Shape& shape) {
  const auto p = static_cast<std::uint64_t>(shape.size);
  return static_cast<std::int64_t>(std::bit_width(p - 1)) - (p > 2 && 4 * p <= 3 * std::bit_ceil(p) ? 1 : 0);
}
/// An allgather after its reversal.
[[nodiscard]] inline std::int64_t twice_doubling_levels(const Shape& shape) { return 2 * doubling_levels(shape); }
/// Exchanges among a power of two of places, for which the other ranks fold (patterns::Folding). Data of a folded rank
/// pass all rounds to another folded rank only if more than half of the places have one.
[[nodiscard]] inline std::int64_t folding_levels(const Shape& shape) {
  const auto p = static_cast<std::uint64_t>(shape.size);
  const std::uint64_t places = std::bit_floor(p), folded = p - places;
  return static_cast<std::int64_t>(std::bit_width(places)) - 1 + (folded > 0 ? 1 : 0) + (2 * folded > places ? 1 : 0);
}
/// Up a binomial tree, and down again.
[[nodiscard]] inline std::int64_t twice_binomial_levels(const Shape& shape) { return 2 * binomial_levels(shape); }

}  // namespace circoll::patterns
