// Sets of ranks modulo p, as cyclic intervals.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::symbolic {

/// A set of ranks modulo p. Its size in memory is the number of its intervals.
class CyclicSet {
 public:
  /// The `length` ranks from `begin` on, modulo p.
  struct Interval {
    Rank begin = 0;
    Rank length = 0;
  };

  /// The empty set, of 0 .. size - 1.
  explicit CyclicSet(Rank size) : size_(size) {}

  [[nodiscard]] bool empty() const { return spans_.empty(); }
  [[nodiscard]] std::size_t intervals() const { return spans_.size(); }
  /// Adds a + b for each rank a of a set and b of an interval. O(n log n) for n intervals of both.
  void add_sums(const CyclicSet& set, Interval interval);
  void add(Rank rank);
  /// The first rank that is not in the set.
  [[nodiscard]] std::optional<Rank> hole() const;

 private:
  /// The ranks from first on, before end; first < end <= p.
  struct Span {
    Rank first;
    Rank end;
  };
  /// Puts the spans in order and makes one of those that overlap or touch.
  void unite();

  Rank size_;
  std::vector<Span> spans_;
};

}  // namespace circoll::symbolic
