// Neutral rules cut into disjoint cells: ranges of ranks, and in each of them ranges of bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "foreign/foreign.hpp"

namespace circoll::foreign {

/// The first of the rules in a range of bytes; nullptr: none, or one that leaves it to the library.
struct SizeCell {
  Range bytes{};
  const Rule* rule = nullptr;
};

/// All sizes, from 0 on without gaps, on a range of ranks.
struct RankCell {
  Range ranks{};
  std::vector<SizeCell> sizes{};

  [[nodiscard]] bool empty() const { return sizes.size() == 1 && sizes.front().rule == nullptr; }
};

/// The cells of one collective's rules, of which only ranks and bytes are looked at. They ascend from one rank on,
/// without gaps. Neighbours with equal choices are one cell.
[[nodiscard]] std::vector<RankCell> cells_of(std::span<const Rule* const> rules);
/// The rules of a collective.
[[nodiscard]] std::vector<const Rule*> rules_of(std::span<const Rule> rules, Collective collective);

/// "16 to 31 ranks, from 65536 bytes" of a rule's ranges, for people.
[[nodiscard]] std::string text_of(const Range& ranks, const Range& bytes);
/// "16 to 31", "16", "from 16 on", "all".
[[nodiscard]] std::string text_of(const Range& range, std::int64_t least);

/// Lists longer than this are not searched for rules that nothing reaches, since all pairs of rules are compared.
constexpr std::size_t longest_searched = 2000;

/// Sentences about losses, each once, in the order in which they come.
void add_loss(std::vector<std::string>& losses, std::string loss);

}  // namespace circoll::foreign
