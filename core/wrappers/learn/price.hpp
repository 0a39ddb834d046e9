// The price of trying algorithms: what it has cost on a communicator, and in the latest calls of one kind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace circoll::learn {

/// Limits of what trying may cost.
struct Limits {
  double share = 0.02;             ///< of the time of all calls on the communicator, and of those in each window
  std::int64_t window_calls = 50;  ///< of a kind, one after the other
  double window_s = 5e-3;          ///< a window of short calls has as many as take so long
};

/// The time that the collectives of a communicator have taken, and the extra cost of trying. It has only values on
/// which the ranks have agreed, in the order of calls. So all ranks have the same account.
class Account {
 public:
  explicit Account(Limits limits = {}) : limits_(limits) {}

  /// Adds the time of calls, as far as it is known.
  void earn(double seconds) { in_collectives_s_ += seconds; }
  /// Adds the time that trying takes beyond the best known algorithm. A negative one corrects an expected price.
  void spend(double seconds) { tried_s_ += seconds; }
  /// The price of the first call of an algorithm, which is prepared in it, and that of an agreement.
  void prepared(double seconds) { preparation_s_ = std::max(preparation_s_ * 0.9, seconds); }
  /// Delays that hold up an agreement now and then are no part of its price.
  void agreed(double seconds) {
    if (seconds <= 0) return;
    least_agreement_s_ = least_agreement_s_ > 0 ? std::min(least_agreement_s_, seconds) : seconds;
    agreement_s_ = std::min(seconds, 3 * least_agreement_s_);
  }

  /// True if so much may be spent now.
  [[nodiscard]] bool affords(double seconds) const { return tried_s_ + seconds <= limits_.share * in_collectives_s_; }
  [[nodiscard]] double preparation_s() const { return preparation_s_; }
  [[nodiscard]] double agreement_s() const { return agreement_s_; }
  [[nodiscard]] double in_collectives_s() const { return in_collectives_s_; }
  [[nodiscard]] double tried_s() const { return tried_s_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }

 private:
  Limits limits_;
  double in_collectives_s_ = 0;
  double tried_s_ = 0;
  double preparation_s_ = 50e-6;  ///< until one is known, that of a short schedule
  double agreement_s_ = 0;
  double least_agreement_s_ = 0;
};

/// The prices that the latest calls of one kind have paid for trying.
class PaidPrices {
 public:
  /// A price that call number `call` pays. A later one for the same call adds to it.
  void pay(std::int64_t call, double seconds) { paid_.push_back({call, seconds}); }
  /// The prices of the calls from `first` on. Forgets the others.
  [[nodiscard]] double since(std::int64_t first) {
    std::erase_if(paid_, [&](const Paid& one) { return one.call < first; });
    double sum = 0;
    for (const Paid& one : paid_) sum += one.seconds;
    return sum;
  }

 private:
  struct Paid {
    std::int64_t call = 0;
    double seconds = 0;
  };
  std::vector<Paid> paid_;
};

}  // namespace circoll::learn
