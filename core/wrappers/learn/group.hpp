// The search for the fastest of several algorithms for calls of one kind, while a program makes them.
//
// Its price is bounded (price.hpp), and contests decide (contest.hpp). ADR 28 has the reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wrappers/learn/contest.hpp"
#include "wrappers/learn/price.hpp"

namespace circoll::learn {

/// Calls of one kind on a communicator, and the candidates that can serve them. It says which serves the next call.
/// Every rank has one, and they say the same, because it follows from the number of calls and from times on which the
/// ranks have agreed.
///
/// The first calls are those of the opening: the candidate of unlearned calls and the library's own serve in turn, and
/// after ten calls at most the faster one serves. Then the other candidates meet the best one, as far as the price
/// allows. The winner stays, and is timed now and then. When it has become slower, the contests are held again.
class Group {
 public:
  /// A candidate has a number. 0 is the one that serves calls if nothing is learned.
  struct Candidate {
    double predicted_s = 0;  ///< of a call; 0: nothing is known
    bool native = false;     ///< the library's own, for which nothing is prepared
  };
  struct Turn {
    std::size_t candidate = 0;
    bool timed = false;  ///< took() must be told how long the call takes at this rank
  };
  /// The outcome of the contests of a candidate, times in seconds.
  struct Tried {
    double median_s = 0;  ///< in its last contest, 0 before the first
    double rival_s = 0;   ///< median of the best one in the same contest
    std::int64_t calls = 0;
  };

  /// The probable length of calls, until it is known.
  enum class Length : std::uint8_t {
    brief,     ///< an agreement takes as long, and the first calls of an algorithm take several times as long
    ordinary,  ///< an agreement takes about as long
    much,      ///< an agreement is cheap beside a call
  };

  /// There is one candidate at least. `known` was the best in an earlier run: calls get it from the first on. It meets
  /// candidate 0 only, and the others if it loses.
  explicit Group(std::vector<Candidate> candidates, std::optional<std::size_t> known = {},
                 Length length = Length::ordinary);

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
  /// The time of a timed call at this rank. `bytes` is the size that the rank knows, where the ranks know different
  /// ones. They agree on the greatest. Calls of unlike sizes are not compared, and where sizes change all the time
  /// candidate 0 serves for good.
  void took(double seconds, double bytes = 0) {
    local_.push_back(seconds);
    local_.push_back(bytes);
  }
  /// True after a call if the group waits for an agreement of the ranks.
  [[nodiscard]] bool agreement_due() const { return due_; }
  /// If an agreement is cheap beside a call (`much`), it is due at the end of the call. Otherwise it is due at the
  /// beginning of the next one, so that other groups take part. Unless calls are `brief`, it overlaps with that one.
  [[nodiscard]] Length length(const Account& account) const;
  /// This rank's times and sizes since the last agreement, one after the other. As many on all ranks.
  [[nodiscard]] std::span<const double> local() const { return local_; }
  /// Takes the greatest of the ranks' first local values, each by itself, and this group's part of the agreement.
  void agreed(std::span<const double> greatest, double agreement_s, Account& account);

  /// The candidate that is the best so far.
  [[nodiscard]] std::size_t best() const { return best_; }
  /// Its agreed time; 0 before the first agreement.
  [[nodiscard]] double best_s() const { return best_s_; }
  /// True if all candidates have had their contests, as far as the price allows.
  [[nodiscard]] bool settled() const { return phase_ == Phase::settled; }
  [[nodiscard]] const std::vector<Tried>& tried() const { return tried_; }
  /// The price of all contests and agreements, in seconds.
  [[nodiscard]] double spent_s() const { return spent_s_; }
  /// Time of the first candidate over that of the best, by the contests in between. 1: nothing is gained.
  [[nodiscard]] double gain() const { return gain_; }
  /// The time that calls would have taken longer by the first candidate, in seconds, by the contests.
  [[nodiscard]] double saved_s() const { return saved_s_; }
  [[nodiscard]] std::int64_t calls() const { return calls_; }
  [[nodiscard]] std::int64_t searches() const { return searches_; }

 private:
  enum class Phase : std::uint8_t {
    quiet,  ///< the first calls, where there is no opening
    contest,
    settled,
  };
  /// A timed call, of whose time the ranks have not agreed yet.
  struct Timed {
    std::size_t candidate = 0;
    std::int64_t call = 0;
    double charged = 0;
  };

  [[nodiscard]] Turn turn_of_contest(Account& account);
  [[nodiscard]] Turn timed_turn(std::size_t candidate, Account& account);
  [[nodiscard]] Turn sample_of_best(std::int64_t number, std::int64_t last);
  [[nodiscard]] double expected_s(std::size_t candidate) const;
  /// The expected price of a pair's calls, and of what comes with them.
  struct PairPrice {
    double calls_s = 0, preparation_s = 0, agreement_s = 0;
  };
  [[nodiscard]] PairPrice price_of_pair(const Account& account) const;
  /// The most that a window may pay.
  [[nodiscard]] double window_budget_s(const Limits& limits) const;
  /// True if the next pair fits into its window, and into the whole.
  [[nodiscard]] bool affords_pair(const PairPrice& price, const Account& account);
  void pay(std::int64_t call, double seconds, Account& account);
  /// Replaces expected prices of a side's calls by the real ones.
  void bill(std::size_t candidate, Contest::Side& side, Account& account);
  void begin_contest(std::size_t challenger, Contest::Kind kind, const Account& account);
  void judge(Account& account);
  void end_contest(bool challenger_wins, Account& account);
  void next_challenger(const Account& account);
  void settle();
  void measured(double now_s, Account& account);
  /// Forgets the pairs of calls that had unlike sizes.
  void drop_unlike_pairs();
  void give_up();
  /// Calls of the best one, outside of contests.
  void served(int calls, Account& account) {
    account.earn(best_s_ * calls);
    saved_s_ += best_s_ * calls * (gain_ - 1);
  }

  std::vector<Candidate> candidates_;
  std::vector<Tried> tried_;
  std::vector<std::uint8_t> met_;  ///< for each candidate: it has had its contest in this search
  std::vector<double> local_{};
  std::vector<Timed> timed_{};  ///< the calls that local_ is about
  std::vector<double> looks_s_{};
  PaidPrices paid_prices_{};
  Contest contest_{};
  Phase phase_ = Phase::quiet;
  Length length_ = Length::ordinary;
  bool due_ = false;
  bool known_before_ = false;  ///< the best was known before the first call, and has met no candidate yet
  std::size_t best_ = 0;
  std::size_t incumbent_ = 0;
  std::size_t challenger_ = 0;
  std::optional<std::size_t> second_chance_{};  ///< has lost the opening in few calls, and meets the best once more
  double best_s_ = 0;
  double gain_ = 1;
  double gain_of_incumbent_ = 1;
  double saved_s_ = 0;
  double spent_s_ = 0;
  std::int64_t calls_ = 0;
  std::int64_t searches_ = 0;
  double bytes_ = 0;  ///< the agreed size of the last calls that were compared
  int unlike_ = 0;    ///< pairs of calls of unlike sizes
  std::int64_t since_look_ = 0;
  std::int64_t look_after_ = 0;
  std::int64_t rest_until_ = 0;  ///< the number of the call up to which the best one serves
};

/// The times of several groups on a communicator, for one agreement of the ranks.
class Agreement {
 public:
  /// Adds what a group's calls have taken at this rank.
  void add(Group& group);
  /// Adds the time that the agreement before has taken here. The ranks replace the values by the greatest of each.
  void close(double last_s) { seconds_.push_back(last_s); }
  [[nodiscard]] std::vector<double>& seconds() { return seconds_; }
  /// Hands the greatest times to the groups.
  void end(Account& account);
  [[nodiscard]] bool empty() const { return parts_.empty(); }

 private:
  struct Part {
    Group* group = nullptr;
    std::size_t count = 0;
  };
  std::vector<Part> parts_;
  std::vector<double> seconds_;
};

}  // namespace circoll::learn
