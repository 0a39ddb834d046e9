// The price of trying algorithms on one communicator, bounded by a share of the time that its collectives take.
#pragma once

#include <algorithm>

namespace circoll::learn {

/// Limits of what trying may cost.
struct Limits {
  double share = 0.02;   ///< of the time in collectives on the communicator
  double most_s = 0.25;  ///< for a group of calls, in all
};

/// The time that the collectives of a communicator have taken, and what trying has cost beyond that. Only values that
/// the ranks have agreed upon go in, in the order of calls, so that all ranks have the same account.
class Account {
 public:
  explicit Account(Limits limits = {}) : limits_(limits) {}

  /// A call has taken so long, as far as is known.
  void earn(double seconds) { in_collectives_s_ += seconds; }
  /// Trying has taken so much longer than the best known algorithm would have.
  void spend(double seconds) { tried_s_ += std::max(seconds, 0.0); }
  /// Trying has begun that is expected to cost so much, and is over. Several groups try at the same time.
  void reserve(double seconds) { reserved_s_ += seconds; }
  void release(double seconds) { reserved_s_ -= seconds; }
  /// The price of the first call of an algorithm, which is prepared in it.
  void prepared(double seconds) { preparation_s_ = std::max(preparation_s_ * 0.9, seconds); }

  /// True if so much may be spent now.
  [[nodiscard]] bool affords(double seconds) const {
    return tried_s_ + reserved_s_ + seconds <= limits_.share * in_collectives_s_;
  }
  [[nodiscard]] double preparation_s() const { return preparation_s_; }
  [[nodiscard]] double in_collectives_s() const { return in_collectives_s_; }
  [[nodiscard]] double tried_s() const { return tried_s_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }

 private:
  Limits limits_;
  double in_collectives_s_ = 0;
  double tried_s_ = 0;
  double reserved_s_ = 0;
  double preparation_s_ = 50e-6;  ///< until one is known, that of a short schedule
};

}  // namespace circoll::learn
