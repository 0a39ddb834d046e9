// Symbolic values of ranks that all do the same, counted from the rank that has them, and sets of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "circoll/types.hpp"
#include "facts/hash.hpp"

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

/// An expression over contributions of ranks, which are counted from some rank.
using Form = std::uint32_t;
inline constexpr Form nothing = 0;
/// The contribution of the rank itself.
inline constexpr Form own_contribution = 1;

/// A value of rank 0: an expression, and the rank from which the ranks in it are counted. That is `turn` itself, or, if
/// `of_block`, turn ranks after the one whose block it is. Values of the second kind do not change by travelling.
struct RelativeValue {
  Form form = nothing;
  Rank turn = 0;
  bool of_block = false;

  friend bool operator==(const RelativeValue&, const RelativeValue&) = default;
};

/// All expressions of one call. Equal ones have one number: left op right, where the ranks in `right` are counted from
/// a rank that lies some distance after the one of `left`.
class RelativeExpressions {
 public:
  explicit RelativeExpressions(Rank size) : size_(size), nodes_(2) {
    nodes_[own_contribution].sources = {.begin = 0, .length = 1, .leaves = 1};
  }

  [[nodiscard]] Rank size() const { return size_; }
  /// 0 <= distance < p. Both forms are something.
  [[nodiscard]] Form combine(Form left, Form right, Rank distance);
  /// Contributions that are combined, with repetition; at most 2^62 are counted.
  [[nodiscard]] std::int64_t leaves(Form form) const { return nodes_[form].sources.leaves; }
  /// A rank whose contribution is not in the form, counted as in it; nothing if all are. One step for each form that is
  /// combined in it and each interval of ranks from which that form is counted there. In a reduce_scatter on the
  /// circulant graph the ranks of a partial result are far apart, but those that need one are neighbours. Throws
  /// Error(unsupported) beyond 2^26 steps.
  [[nodiscard]] std::optional<Rank> missing(Form form) const;

 private:
  /// The ranks in a form. They are the `length` ones from `begin` on, modulo p; length 0: not known to be neighbours.
  struct Sources {
    Rank begin = 0;
    Rank length = 0;
    std::int64_t leaves = 0;
  };
  struct Node {
    Form left = nothing;
    Form right = nothing;
    Rank distance = 0;
    Sources sources{};
  };
  struct Key {
    Form left;
    Form right;
    Rank distance;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return QuickHash()
          .add(std::uint64_t{key.left} << 32U | key.right)
          .add(static_cast<std::uint64_t>(key.distance))
          .value();
    }
  };
  [[nodiscard]] Sources united(const Sources& a, const Sources& b, Rank distance) const;

  Rank size_;
  std::vector<Node> nodes_;
  std::unordered_map<Key, Form, Hash> known_;
};

}  // namespace circoll::symbolic
