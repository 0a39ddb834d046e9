#include "symbolic/relative_expressions.hpp"

#include <algorithm>

#include "circoll/error.hpp"

namespace circoll::symbolic {

RelativeExpressions::Sources RelativeExpressions::united(const Sources& a, const Sources& b, Rank distance) const {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  Sources sum{.leaves = std::min(most, a.leaves + b.leaves)};
  if (a.length == 0 || b.length == 0) return sum;
  const Rank begin = (b.begin + distance) % size_;
  const auto after = [&](Rank from, Rank to) { return to >= from ? to - from : to - from + size_; };
  // The interval that begins inside the other, or right after it, goes on where that one ends.
  if (const Rank gap = after(a.begin, begin); gap <= a.length) {
    sum.begin = a.begin;
    sum.length = std::min(size_, std::max(a.length, gap + b.length));
  } else if (const Rank back = after(begin, a.begin); back <= b.length) {
    sum.begin = begin;
    sum.length = std::min(size_, std::max(b.length, back + a.length));
  }
  return sum;
}

Form RelativeExpressions::combine(Form left, Form right, Rank distance) {
  const auto [place, is_new] = known_.try_emplace({left, right, distance}, static_cast<Form>(nodes_.size()));
  if (is_new) nodes_.push_back({left, right, distance, united(nodes_[left].sources, nodes_[right].sources, distance)});
  return place->second;
}

std::optional<Rank> RelativeExpressions::missing(Form form) const {
  const Sources& sources = nodes_[form].sources;
  if (sources.length == size_) return std::nullopt;
  if (sources.length > 0) return (sources.begin + sources.length) % size_;
  constexpr std::int64_t most = std::int64_t{1} << 28;
  if (static_cast<std::int64_t>(nodes_.size()) > most / size_) {
    throw Error(ErrorCode::unsupported, "too many ranks to look at all contributions of a result");
  }
  // The ranks of each node, operands first: they have smaller numbers.
  std::vector<std::vector<bool>> ranks(std::size_t{form} + 1);
  std::vector<bool> needed(std::size_t{form} + 1, false);
  needed[form] = true;
  for (Form i = form; i > own_contribution; --i) {
    if (needed[i]) needed[nodes_[i].left] = needed[nodes_[i].right] = true;
  }
  const auto p = static_cast<std::size_t>(size_);
  for (Form i = own_contribution; i <= form; ++i) {
    if (!needed[i]) continue;
    std::vector<bool>& all = ranks[i];
    if (i == own_contribution) {
      all.assign(p, false);
      all[0] = true;
      continue;
    }
    all = ranks[nodes_[i].left];
    const std::vector<bool>& others = ranks[nodes_[i].right];
    auto to = static_cast<std::size_t>(nodes_[i].distance);
    for (std::size_t from = 0; from < p; ++from) {
      if (others[from]) all[to] = true;
      if (++to == p) to = 0;
    }
  }
  const auto hole = std::find(ranks[form].begin(), ranks[form].end(), false);
  if (hole == ranks[form].end()) return std::nullopt;
  return static_cast<Rank>(hole - ranks[form].begin());
}

}  // namespace circoll::symbolic
