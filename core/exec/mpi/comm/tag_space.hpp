// The tags of one private communicator, given out in ranges.
#pragma once

#include <map>
#include <mutex>

namespace circoll::mpi {

/// The division of a context's tags among the executions that may use them at the same time.
///
///   [0, blocking)        blocking calls, one after another: each collective begins at a place of its own
///   [blocking, context)  nonblocking operations, in `epochs` ranges of one unit that are used in turn
///
/// A persistent request has units of its own, outside of the context.
struct TagLayout {
  static constexpr int context_units = 128;
  static constexpr int blocking_units = 64;
  static constexpr int epochs = context_units - blocking_units;

  int unit = 4;  ///< tags of the smallest range

  /// The layout for tags 0 .. largest_tag, in units of 4 to 256 tags. So there are 64 contexts at least, and some
  /// thousands with the tags that MPI libraries have. `largest_tag` is at least 32767, as MPI promises.
  [[nodiscard]] static TagLayout of(int largest_tag);

  [[nodiscard]] int blocking_tags() const { return blocking_units * unit; }
  /// The distance between the first tags of two collectives. An erroneous call may leave messages of its collective
  /// behind, which the next call of another one must not meet.
  [[nodiscard]] int blocking_stride() const { return unit / 4; }
  /// True if there are more contexts than a program can need, of so many tags. Only then may an agreement on them be a
  /// part of a nonblocking call, which cannot be left to the MPI library any more when it fails.
  [[nodiscard]] bool is_plentiful(int largest_tag) const { return largest_tag / (context_units * unit) >= 4095; }
  /// Tags that one execution may have at most.
  [[nodiscard]] int most_tags() const { return (blocking_units - 4) * unit; }
  /// Units of a nonblocking or persistent execution that wants so many tags: 1 to `epochs`.
  [[nodiscard]] int units_for(int tags) const;
};

/// Ranges of units, the lowest free one first: ranks that ask in the same order get the same. Thread-safe.
class TagSpace {
 public:
  explicit TagSpace(int units);

  /// The first unit of a range that is taken now. It is -1 if there is none, or if less than `spare` units would
  /// be left.
  [[nodiscard]] int take(int units, int spare = 0);
  /// Gives a range back. What must not be used again is kept instead.
  void give_back(int first, int units) noexcept;
  [[nodiscard]] int units() const { return units_; }
  [[nodiscard]] int free_units() const;

 private:
  int units_;
  mutable std::mutex mutex_;
  int free_units_;
  std::map<int, int> free_;  // first unit to number of units; no two are neighbours
};

}  // namespace circoll::mpi
