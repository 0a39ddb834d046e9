#include "symbolic/cyclic_set.hpp"

#include <algorithm>

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

}  // namespace circoll::symbolic
