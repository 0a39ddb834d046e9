// The search for the fastest of several algorithms for calls of one kind, while a program makes them.
//
// Its price on one communicator is bounded by a share of the time that collectives take there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace circoll::learn {

/// Limits of what trying may cost.
struct Limits {
  double share = 0.02;   ///< of the time in collectives on the communicator
  double most_s = 0.25;  ///< for a group of calls, in all
};

/// The time that the collectives of a communicator have taken, and the extra cost of trying. It has only values on
/// which the ranks have agreed, in the order of calls. So all ranks have the same account.
class Account {
 public:
  explicit Account(Limits limits = {}) : limits_(limits) {}

  /// Adds the time of a call, as far as it is known.
  void earn(double seconds) { in_collectives_s_ += seconds; }
  /// Adds the time that trying has taken beyond that of the best known algorithm.
  void spend(double seconds) { tried_s_ += std::max(seconds, 0.0); }
  /// Sets aside the expected cost of trying that begins, and frees it at the end. Several groups try at the same time.
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

/// Calls of one kind on a communicator, and the candidates that can serve them. It says which serves the next call.
/// Every rank has one, and they say the same, because it follows from the number of calls and from times on which the
/// ranks have agreed.
///
/// The first calls are left alone. Then the best candidate so far and one challenger take turns: four calls each, and
/// twelve more unless the challenger is much slower. The ranks agree on the greatest time of each call, and the medians
/// decide. A duel begins when the account can pay for it. The winner stays, and is timed now and then. When it has
/// become slower, the duels are held again.
class Group {
 public:
  /// A candidate has a number. 0 is the one that serves calls if nothing is learned.
  struct Candidate {
    double predicted_s = 0;  ///< of a call; 0: nothing is known
    bool prepared = false;   ///< its first call takes no longer than others
  };
  struct Turn {
    std::size_t candidate = 0;
    bool timed = false;  ///< took() must be told how long the call takes at this rank
  };
  /// The outcome of the duels of a candidate, times in seconds.
  struct Tried {
    double median_s = 0;  ///< in its last duel, 0 before the first
    double rival_s = 0;   ///< median of the best one in the same duel
    std::int64_t calls = 0;
    bool dropped = false;  ///< much slower, in few calls
  };

  /// There is one candidate at least. `known` was the best in an earlier run: calls get it from the first on. It meets
  /// candidate 0 only, and the others if it loses.
  explicit Group(std::vector<Candidate> candidates, std::optional<std::size_t> known = {});

  /// The candidate that serves the next call. To be asked once for each call, in the order of calls.
  [[nodiscard]] Turn next(Account& account);
  /// The number of further calls that get best() and are not timed, whatever happens. It is bounded, so that the
  /// account hears of them soon. next() need not be asked about them if passed_over() is told before it is again.
  [[nodiscard]] int quiet() const;
  /// So many of the quiet calls have been made.
  void passed_over(int calls, Account& account) {
    calls_ += calls;
    if (phase_ == Phase::settled) since_look_ += calls;
    served(calls, account);
  }
  /// The time of a timed call at this rank.
  void took(double seconds) { local_.push_back(seconds); }
  /// True after a call if the ranks must agree before the next one of this group.
  [[nodiscard]] bool agreement_due() const { return due_; }
  /// This rank's times since the last agreement; as many on all ranks.
  [[nodiscard]] std::span<const double> local() const { return local_; }
  /// Takes the greatest of the ranks' local times, each by itself, and the time that the agreement before has taken.
  void agreed(std::span<const double> greatest_s, double agreement_s, Account& account);

  /// The candidate that is the best so far.
  [[nodiscard]] std::size_t best() const { return best_; }
  /// Its agreed time; 0 before the first agreement.
  [[nodiscard]] double best_s() const { return best_s_; }
  /// True if all candidates have had their duels.
  [[nodiscard]] bool settled() const { return phase_ == Phase::settled; }
  [[nodiscard]] const std::vector<Tried>& tried() const { return tried_; }
  /// The price of all duels, in seconds.
  [[nodiscard]] double spent_s() const { return spent_s_; }
  /// Time of the first candidate over that of the best, by the duels in between. 1: nothing is gained.
  [[nodiscard]] double gain() const { return gain_; }
  /// The time that calls would have taken longer by the first candidate, in seconds, by the duels.
  [[nodiscard]] double saved_s() const { return saved_s_; }
  [[nodiscard]] std::int64_t calls() const { return calls_; }
  [[nodiscard]] std::int64_t searches() const { return searches_; }

 private:
  enum class Phase : std::uint8_t {
    quiet,    ///< the first calls
    between,  ///< a challenger waits until the account can pay
    duel,
    settled,
  };

  [[nodiscard]] Turn turn_of_duel();
  /// The expected price of the duel with the challenger.
  [[nodiscard]] double price_s(const Account& account) const;
  [[nodiscard]] double expected_s(std::size_t candidate) const;
  void begin_duel(bool second_leg);
  void end_duel(std::span<const double> greatest_s, Account& account);
  void next_challenger();
  void settle();
  void look_again(double now_s);
  /// Calls of the best one, outside of duels.
  void served(int calls, Account& account) {
    account.earn(best_s_ * calls);
    saved_s_ += best_s_ * calls * (gain_ - 1);
  }

  std::vector<Candidate> candidates_;
  std::vector<Tried> tried_;
  std::vector<std::uint8_t> turns_{};  ///< of a duel: true where it is the challenger's
  std::vector<double> local_{};
  Phase phase_ = Phase::quiet;
  bool due_ = false;
  bool second_leg_ = false;
  bool known_before_ = false;  ///< the best was known before the first call, and has met no candidate yet
  std::size_t place_ = 0;      ///< in turns_
  std::size_t best_ = 0;
  std::size_t challenger_ = 0;
  double best_s_ = 0;
  double gain_ = 1;
  double saved_s_ = 0;
  double spent_s_ = 0;
  double reserved_s_ = 0;  ///< of the account, for the duel that is under way
  double last_agreement_s_ = 0;
  std::int64_t calls_ = 0;
  std::int64_t searches_ = 0;
  std::int64_t since_look_ = 0;
  std::int64_t look_after_ = 0;
};

}  // namespace circoll::learn
