// Two algorithms serve calls in turn, in pairs of calls. Says which is faster, as soon as the pairs show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace circoll::learn {

class Contest {
 public:
  enum class Outcome : std::uint8_t { open, stays, wins };  ///< of the challenger: not decided, slower, faster
  /// The opening decides between two algorithms of which nothing is known, so that it is quick in both directions.
  /// Later a challenger is given up soon, and wins only if it is surely faster.
  enum class Kind : std::uint8_t { opening, later };
  /// A call's agreed time.
  struct Sample {
    std::int64_t call = 0;
    double seconds = 0;
    double charged = 0;  ///< the price that was expected for it
    double bytes = 0;    ///< its agreed size, if the ranks know different ones
  };
  struct Side {
    std::vector<Sample> samples{};
    std::size_t billed = 0;  ///< so many have their final price
    /// The first calls that take longer: schedules are prepared, processes connect, caches are cold.
    std::size_t cold = 1;

    /// The value in the middle without the cold calls, unless there are no others. Of the two in the middle the smaller
    /// one: what delays calls only makes them longer.
    [[nodiscard]] double typical_s() const;
    /// The sum over warm calls.
    [[nodiscard]] double sum_s() const;
  };

  static constexpr int opening_pairs = 5;  ///< after which the one ahead serves: ten calls
  static constexpr int sure_pairs = 9;     ///< that no single delay or burst can mislead
  static constexpr int most_pairs = 17;

  Contest() = default;
  /// If an agreement is cheap beside a call, the ranks agree more `often`. It takes more `brief` calls to be warm.
  Contest(Kind kind, bool often, bool brief);

  /// A pair begins with the incumbent. Both sides have been asked for so many calls.
  [[nodiscard]] int begun() const { return begun_; }
  [[nodiscard]] bool challengers_turn() const { return half_; }
  /// True if the pairs up to the next judgement have been served.
  [[nodiscard]] bool at_stop() const { return begun_ == stop_ && !half_; }
  /// True if the next pair is the last before a judgement.
  [[nodiscard]] bool before_stop() const { return begun_ + 1 == stop_; }
  /// The next call of the pair has been served.
  void served();

  Side incumbent{}, challenger{};

  /// True if the times of all pairs up to the stop have come.
  [[nodiscard]] bool complete() const { return static_cast<int>(challenger.samples.size()) == stop_; }
  /// A pair does not count, because its calls cannot be compared. Another one follows.
  void drop_pair(std::size_t pair);
  /// The verdict of the times so far. If it is open, the next stop is set, by the new price of an agreement.
  [[nodiscard]] Outcome judge(bool often);
  /// True if the challenger is ahead, decided or not.
  [[nodiscard]] bool ahead() const;
  /// True if one cold call has been so slow that its side should not serve again soon. It gets one more pair, later.
  [[nodiscard]] bool rests() const;
  [[nodiscard]] Kind kind() const { return kind_; }
  /// True after so many pairs that the faster side is known. The opening need not pay for these.
  [[nodiscard]] bool opened() const { return begun_ >= (brief() ? sure_pairs : opening_pairs); }

 private:
  [[nodiscard]] Outcome verdict_of_opening() const;
  [[nodiscard]] Outcome verdict_later() const;
  /// True if the slower side's fastest call takes so many times as long as the other's slowest warm one.
  [[nodiscard]] bool apart(double ratio) const;
  /// The median of the challenger's time over the incumbent's. Only warm pairs count, if there are any.
  [[nodiscard]] double ratio_of_pairs() const;
  [[nodiscard]] bool brief() const { return challenger.cold > 1; }
  /// The warm pairs, and those in which the challenger was faster.
  [[nodiscard]] int warm() const { return begun_ - static_cast<int>(challenger.cold); }
  [[nodiscard]] int wins() const;

  Kind kind_ = Kind::opening;
  bool half_ = false;
  int begun_ = 0;
  int stop_ = 0;
};

}  // namespace circoll::learn
