#include "symbolic/relative_expressions.hpp"

#include <algorithm>
#include <utility>

#include "circoll/error.hpp"

namespace circoll::symbolic {

void CyclicSet::add(Rank rank) {
  spans_.push_back({rank, rank + 1});
  unite();
}

void CyclicSet::add_sums(const CyclicSet& set, Interval interval) {
  const std::size_t given = set.spans_.size();
  for (std::size_t i = 0; i < given; ++i) {
    const Span span = set.spans_[i];
    const Rank length = std::min(size_, span.end - span.first + interval.length - 1);
    const Rank first = (span.first + interval.begin) % size_;
    spans_.push_back({first, std::min(size_, first + length)});
    if (first + length > size_) spans_.push_back({0, first + length - size_});
  }
  unite();
}

std::optional<Rank> CyclicSet::hole() const {
  if (spans_.empty() || spans_.front().first > 0) return 0;
  if (spans_.front().end < size_) return spans_.front().end;
  return std::nullopt;
}

void CyclicSet::unite() {
  std::ranges::sort(spans_, {}, &Span::first);
  std::size_t kept = 0;
  for (const Span& span : spans_) {
    if (kept > 0 && span.first <= spans_[kept - 1].end) {
      spans_[kept - 1].end = std::max(spans_[kept - 1].end, span.end);
    } else {
      spans_[kept++] = span;
    }
  }
  spans_.resize(kept);
}

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
  if (nodes_[form].sources.length == size_) return std::nullopt;
  constexpr std::size_t most = std::size_t{1} << 26;
  std::size_t intervals = 0;
  // Where each form is used in this one, results first: operands have smaller numbers.
  std::vector<CyclicSet> uses(std::size_t{form} + 1, CyclicSet(size_));
  uses[form].add(0);
  CyclicSet found(size_);
  for (Form i = form; i >= own_contribution; --i) {
    const CyclicSet used = std::exchange(uses[i], CyclicSet(size_));
    if (used.empty()) continue;
    intervals += used.intervals();
    if (intervals > most)
      throw Error(ErrorCode::unsupported, "too many ranks to look at each contribution of a result");
    const Node& node = nodes_[i];
    if (node.sources.length > 0) {
      found.add_sums(used, {.begin = node.sources.begin, .length = node.sources.length});
    } else {
      uses[node.left].add_sums(used, {.begin = 0, .length = 1});
      uses[node.right].add_sums(used, {.begin = node.distance, .length = 1});
    }
  }
  return found.hole();
}

}  // namespace circoll::symbolic
