// Cuts neutral rules into cells.
#include "foreign/cells.hpp"

#include <algorithm>

namespace circoll::foreign {
namespace {

/// Where something begins: `least`, and the bounds of ranges.
std::vector<std::int64_t> beginnings(std::span<const Rule* const> rules, Range Rule::*range, std::int64_t least) {
  std::vector<std::int64_t> all{least};
  for (const Rule* rule : rules) {
    all.push_back((rule->*range).from);
    if ((rule->*range).to < unbounded) all.push_back((rule->*range).to + 1);
  }
  std::erase_if(all, [&](std::int64_t value) { return value < least; });
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// True if two rules, either of which may be nullptr, choose the same algorithm with the same parameters.
bool same_choice(const Rule* a, const Rule* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->algorithm == b->algorithm && a->segment_bytes == b->segment_bytes && a->radix == b->radix;
}

std::vector<SizeCell> sizes_of(std::span<const Rule* const> rules) {
  std::vector<SizeCell> sizes;
  const std::vector<std::int64_t> from = beginnings(rules, &Rule::bytes, 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Range bytes{from[i], i + 1 < from.size() ? from[i + 1] - 1 : unbounded};
    const auto found = std::ranges::find_if(rules, [&](const Rule* rule) { return rule->bytes.holds(bytes.from); });
    const Rule* const rule = found == rules.end() || (*found)->algorithm.empty() ? nullptr : *found;
    if (!sizes.empty() && same_choice(sizes.back().rule, rule)) {
      sizes.back().bytes.to = bytes.to;
    } else {
      sizes.push_back({.bytes = bytes, .rule = rule});
    }
  }
  return sizes;
}

bool same_sizes(const std::vector<SizeCell>& a, const std::vector<SizeCell>& b) {
  return std::ranges::equal(a, b, [](const SizeCell& left, const SizeCell& right) {
    return left.bytes == right.bytes && same_choice(left.rule, right.rule);
  });
}

}  // namespace

std::vector<const Rule*> rules_of(std::span<const Rule> rules, Collective collective) {
  std::vector<const Rule*> found;
  for (const Rule& rule : rules) {
    if (rule.collective == collective) found.push_back(&rule);
  }
  return found;
}

std::vector<RankCell> cells_of(std::span<const Rule* const> rules) {
  std::vector<RankCell> cells;
  const std::vector<std::int64_t> from = beginnings(rules, &Rule::ranks, 1);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Range ranks{from[i], i + 1 < from.size() ? from[i + 1] - 1 : unbounded};
    std::vector<const Rule*> within;
    std::ranges::copy_if(rules, std::back_inserter(within),
                         [&](const Rule* rule) { return rule->ranks.holds(ranks.from); });
    std::vector<SizeCell> sizes = sizes_of(within);
    if (!cells.empty() && same_sizes(cells.back().sizes, sizes)) {
      cells.back().ranks.to = ranks.to;
    } else {
      cells.push_back({.ranks = ranks, .sizes = std::move(sizes)});
    }
  }
  return cells;
}

std::string text_of(const Range& range, std::int64_t least) {
  const bool open = range.to == unbounded;
  if (open) return range.from <= least ? "all" : "from " + std::to_string(range.from) + " on";
  if (range.from == range.to) return std::to_string(range.from);
  return std::to_string(range.from) + " to " + std::to_string(range.to);
}

std::string text_of(const Range& ranks, const Range& bytes) {
  return text_of(ranks, 1) + " ranks, " + text_of(bytes, 0) + " bytes";
}

void add_loss(std::vector<std::string>& losses, std::string loss) {
  if (std::ranges::find(losses, loss) == losses.end()) losses.push_back(std::move(loss));
}

}  // namespace circoll::foreign
