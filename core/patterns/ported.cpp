#include "patterns/ported.hpp"

#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace circoll::patterns {
namespace {

/// Calls level(number, s_k, s_{k+1}) for each level.
template <typename F>
void each_level(Rank p, std::int64_t ports, F level) {
  const Skips skips(p, ports + 1);
  for (int k = 0; k < skips.q(); ++k) level(k, skips[k], skips[k + 1]);
}

bool meet(Rank first, Rank blocks, Rank other_first, Rank other_blocks) {
  return first < other_first + other_blocks && other_first < first + blocks;
}

/// True if a round sends some of the blocks that another one brings.
bool sends_what(const GatherRound& brings, const GatherRound& sends) {
  return meet(brings.first, brings.blocks, sends.sent, sends.blocks);
}

std::vector<std::int64_t> blocks_of(std::span<const GatherRound> rounds) {
  std::vector<std::int64_t> blocks;
  blocks.reserve(rounds.size());
  for (const GatherRound& round : rounds) blocks.push_back(round.blocks);
  return blocks;
}

}  // namespace

std::vector<GatherRound> upward_rounds(const Shape& shape) {
  const std::int64_t k = value_of(shape, ports);
  std::vector<GatherRound> rounds;
  each_level(shape.size, k, [&](int level, Rank has, Rank next) {
    Rank first = has;
    for (std::int64_t left = std::min(k, next - has); left > 0; --left) {
      const Rank blocks = (next - first + left - 1) / left;
      // The sender's last blocks: so a level waits for the last message of the one before.
      const Rank sent = has - blocks;
      rounds.push_back({.level = level, .peer = first - sent, .first = first, .sent = sent, .blocks = blocks});
      first += blocks;
    }
  });
  return rounds;
}

std::vector<GatherRound> two_sided_rounds(const Shape& shape) {
  std::vector<GatherRound> rounds;
  Rank below = 0;  // blocks before the own one
  each_level(shape.size, 2, [&](int level, Rank has, Rank next) {
    const Rank from_above = (next - has + 1) / 2;
    const Rank from_below = next - has - from_above;
    const Rank above = has - 1 - below;
    rounds.push_back({.level = level, .peer = has, .first = above + 1, .sent = -below, .blocks = from_above});
    if (from_below > 0) {
      rounds.push_back({.level = level,
                        .peer = -has,
                        .first = -below - from_below,
                        .sent = above + 1 - from_below,
                        .blocks = from_below});
    }
    below += from_below;
  });
  return rounds;
}

std::vector<GatherRound> digit_rounds(Rank p, std::int64_t base) {
  std::vector<GatherRound> rounds;
  int level = 0;
  for (Rank unit = 1; unit < p; unit *= base, ++level) {
    for (Rank first = unit; first < unit * base && first < p; first += unit)
      rounds.push_back({.level = level, .peer = first, .first = first, .sent = 0, .blocks = std::min(unit, p - first)});
  }
  return rounds;
}

Cost cost_of_gather(const Shape& shape, std::int64_t ports) {
  Cost cost{.sent = shape.size - 1, .received = shape.size - 1, .copied = shape.in_place ? 0 : 1};
  each_level(shape.size, ports, [&](int, Rank has, Rank next) { cost.rounds += std::min(ports, next - has); });
  return cost;
}

Cost cost_of_reversal(const Shape& shape, std::int64_t ports) {
  Cost cost = cost_of_gather(shape, ports);
  cost.reduced = cost.received;
  cost.copied = shape.size == 1 ? 1 : 0;
  return cost;
}

void gather_by_rounds(Builder& b, std::span<const GatherRound> rounds) {
  const Rank p = b.size();
  const Rank r = b.rank();
  const auto at = [&](Rank distance) { return mod(r + distance, p); };
  b.copy(b.output(r, 1), b.input());
  for (const GatherRound& round : rounds) {
    // The first messages do not wait for the local copy.
    const Region out = round.level == 0 ? b.input() : b.output(at(round.sent), round.blocks);
    b.sendrecv(at(-round.peer), out, at(round.peer), b.output(at(round.first), round.blocks));
    b.next_round();
  }
}

std::int64_t levels_of_gather(std::span<const GatherRound> rounds) {
  std::vector<std::int64_t> chains;  // the longest one that ends with a round
  std::int64_t levels = 0;
  for (const GatherRound& round : rounds) {
    std::int64_t before = 0;
    for (std::size_t j = 0; j < chains.size(); ++j) {
      if (sends_what(rounds[j], round)) before = std::max(before, chains[j]);
    }
    chains.push_back(before + 1);
    levels = std::max(levels, before + 1);
  }
  return levels;
}

std::int64_t levels_of_reversal(std::span<const GatherRound> rounds, std::int64_t memory) {
  std::vector<std::int64_t> chains;    // the longest one that ends with a round of the reversal
  std::vector<std::int64_t> combined;  // the same with the rounds that are combined with its message
  std::int64_t levels = 0;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const GatherRound& round = rounds[rounds.size() - 1 - i];
    std::int64_t before = 0;
    std::int64_t same_blocks = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const GatherRound& earlier = rounds[rounds.size() - 1 - j];
      if (sends_what(round, earlier)) before = std::max(before, combined[j]);
      if (meet(round.sent, round.blocks, earlier.sent, earlier.blocks))
        same_blocks = std::max(same_blocks, combined[j]);
    }
    const auto room = static_cast<std::int64_t>(i) - memory;
    const std::int64_t freed = room >= 0 ? combined[static_cast<std::size_t>(room)] : 0;
    chains.push_back(std::max(before + 1, freed));
    combined.push_back(std::max(chains.back(), same_blocks));
    levels = std::max(levels, chains.back());
  }
  return levels;
}

Waits waits_of_gather(std::span<const GatherRound> rounds) {
  Waits waits{.blocks = blocks_of(rounds)};
  std::size_t of_level = 0;  // the first round of the current level, which waits for none of its own
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (rounds[i].level != rounds[of_level].level) of_level = i;
    std::size_t after = of_level;
    while (after > 0 && !sends_what(rounds[after - 1], rounds[i])) --after;
    waits.latest.push_back(static_cast<std::int64_t>(after) - 1);
  }
  return waits;
}

Waits waits_of_reversal(std::span<const GatherRound> rounds, std::int64_t memory) {
  const std::size_t n = rounds.size();
  Waits waits{.blocks = blocks_of(rounds)};
  std::reverse(waits.blocks.begin(), waits.blocks.end());
  std::size_t next_level = n;  // the first round of the level above the current one
  for (std::size_t i = n; i-- > 0;) {
    if (i + 1 < n && rounds[i + 1].level != rounds[i].level) next_level = i + 1;
    std::size_t combines = next_level;
    while (combines < n && !sends_what(rounds[i], rounds[combines])) ++combines;
    const auto sent = combines < n ? static_cast<std::int64_t>(n - 1 - combines) : -1;
    const auto room = static_cast<std::int64_t>(n - 1 - i) - memory;
    waits.latest.push_back(std::max({sent, room, std::int64_t{-1}}));
  }
  return waits;
}

RoundsOnPorts at_once(const Waits& waits, std::int64_t ports) {
  const std::vector<std::int64_t> groups = groups_on_ports(waits.latest, ports);
  RoundsOnPorts result;
  for (std::size_t i = 0; i < groups.size();) {
    std::int64_t longest = 0;
    const std::int64_t group = groups[i];
    for (; i < groups.size() && groups[i] == group; ++i) longest = std::max(longest, waits.blocks[i]);
    ++result.rounds;
    result.volume += longest;
  }
  return result;
}

}  // namespace circoll::patterns
