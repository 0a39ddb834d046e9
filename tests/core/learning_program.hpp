// A program whose calls are learned from, with made-up times: for tests of the learner. It has no clock, and the same
// seed gives the same run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <random>
#include <vector>

#include "wrappers/learn/group.hpp"

namespace circoll::learn {

/// Calls of one kind: the true time of each candidate.
struct MadeUpKind {
  std::vector<double> times_s{};
  std::vector<Group::Candidate> candidates{};
  Group::Length length = Group::Length::ordinary;
  std::optional<std::size_t> known{};
  std::vector<double> sizes{0};  ///< of calls, in turn; their times are proportional to all but the size 0

  /// The better of auto and native.
  [[nodiscard]] double base_s() const {
    double base_s = times_s[0];
    for (std::size_t i = 1; i < times_s.size(); ++i) {
      if (candidates[i].native) base_s = std::min(base_s, times_s[i]);
    }
    return base_s;
  }
  [[nodiscard]] double best_s() const { return *std::min_element(times_s.begin(), times_s.end()); }
};

/// The behaviour of the machine. All factors are relative to a call's true time.
struct MadeUpMachine {
  double sigma = 0;             ///< of each rank's and call's own noise, lognormal
  double tail = 0;              ///< the share of calls that are held up ...
  double tail_factor = 8;       ///< ... and by how much at most
  double burst = 0;             ///< the probability that a burst begins with a call
  int burst_calls = 30;         ///< its length
  double burst_factor = 2.5;    ///< of all candidates alike
  double drift = 0;             ///< amplitude of a slow change of all candidates
  double agreement_s = 650e-6;  ///< of an agreement for which the program waits
  double overlapped = 0.3;      ///< part of it that is seen if the next calls do not wait
  double preparation_s = 50e-6;
};

/// One call as it was: who served it, its mean time with all that learning adds, and the better of auto and native.
struct MadeUpCall {
  std::size_t served = 0;
  double took_s = 0;
  double base_s = 0;
  double best_s = 0;
};

/// Two ranks, each with groups and an account of its own, on one communicator.
class LearningProgram {
 public:
  LearningProgram(std::vector<MadeUpKind> kinds, const MadeUpMachine& machine, std::uint64_t seed, Limits limits = {})
      : kinds_(std::move(kinds)), machine_(machine), random_(seed), phase_(uniform()), calls_(kinds_.size()) {
    for (Rank& rank : ranks_) {
      rank.account = Account(limits);
      for (const MadeUpKind& kind : kinds_) {
        rank.groups.emplace_back(kind.candidates, kind.known, kind.length);
      }
    }
    for (const MadeUpKind& kind : kinds_) prepared_.emplace_back(kind.times_s.size());
  }

  /// From now on candidates take so long.
  void set_times(std::size_t kind, std::vector<double> times_s) { kinds_[kind].times_s = std::move(times_s); }

  /// One call. Both ranks must say the same about it.
  void call(std::size_t kind) {
    double agreements_s = begin_agreement(kind);
    const Group::Turn turn = ranks_[0].groups[kind].next(ranks_[0].account);
    const Group::Turn other = ranks_[1].groups[kind].next(ranks_[1].account);
    ASSERT_EQ(other.candidate, turn.candidate);
    ASSERT_EQ(other.timed, turn.timed);
    const MadeUpKind& is = kinds_[kind];
    const double bytes = is.sizes[calls_[kind].size() % is.sizes.size()];
    const double factor = next_factor() * (bytes > 0 ? bytes : 1);
    double mean_s = is.times_s[turn.candidate] * factor;
    if (!is.candidates[turn.candidate].native && prepared_[kind][turn.candidate]++ == 0 && turn.candidate != 0)
      mean_s += machine_.preparation_s;
    // The second rank knows half of the size.
    for (Rank& rank : ranks_) {
      if (turn.timed) rank.groups[kind].took(mean_s * noise(), &rank == &ranks_[0] ? bytes : bytes / 2);
    }
    agreements_s += end_agreement(kind);
    calls_[kind].push_back({.served = turn.candidate,
                            .took_s = mean_s + agreements_s,
                            .base_s = is.base_s() * factor,
                            .best_s = is.best_s() * factor});
  }
  void calls(int number, std::size_t kind = 0) {
    for (int i = 0; i < number; ++i) ASSERT_NO_FATAL_FAILURE(call(kind));
  }

  [[nodiscard]] const Group& group(std::size_t kind = 0) const { return ranks_[0].groups[kind]; }
  [[nodiscard]] const Account& account() const { return ranks_[0].account; }
  [[nodiscard]] const std::vector<MadeUpCall>& made(std::size_t kind = 0) const { return calls_[kind]; }
  [[nodiscard]] int agreements() const { return agreements_; }
  /// The calls that a candidate has served.
  [[nodiscard]] std::int64_t served(std::size_t candidate, std::size_t kind = 0) const {
    return std::count_if(calls_[kind].begin(), calls_[kind].end(),
                         [&](const MadeUpCall& call) { return call.served == candidate; });
  }
  /// The time of calls [from, to) over that of the better of auto and native.
  [[nodiscard]] double price(std::size_t from, std::size_t to, std::size_t kind = 0) const {
    double took_s = 0, base_s = 0;
    for (std::size_t i = from; i < to; ++i) {
      took_s += calls_[kind][i].took_s;
      base_s += calls_[kind][i].base_s;
    }
    return took_s / base_s;
  }
  /// The greatest price of 50 calls in a row, of those from `from` on.
  [[nodiscard]] double dearest_window(std::size_t from, std::size_t kind = 0) const {
    double dearest = 0;
    for (std::size_t i = from; i + 50 <= calls_[kind].size(); ++i) dearest = std::max(dearest, price(i, i + 50, kind));
    return dearest;
  }

 private:
  struct Rank {
    std::vector<Group> groups{};
    Account account{};
    Agreement agreement{};
  };

  double uniform() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  double noise() {
    double noise = std::exp(machine_.sigma * normal());
    if (uniform() < machine_.tail) noise *= 1 + (machine_.tail_factor - 1) * uniform();
    return noise;
  }
  /// The machine's part in the time of the next call, whichever candidate serves it.
  double next_factor() {
    if (burst_left_ > 0) {
      --burst_left_;
    } else if (uniform() < machine_.burst) {
      burst_left_ = machine_.burst_calls;
    }
    ++moment_;
    const double drift = 1 + machine_.drift * std::sin(2 * std::numbers::pi * (phase_ + moment_ / 700.0));
    return drift * (burst_left_ > 0 ? machine_.burst_factor : 1);
  }
  /// As the drop-in does, before a call. Returns what the program sees of it.
  double begin_agreement(std::size_t kind) {
    overlaps_ = false;
    const Group::Length length = length_of(kind);
    if (!due(kind) || length == Group::Length::much) return 0;
    agree();
    if (length == Group::Length::brief) return end(machine_.agreement_s);
    overlaps_ = true;
    return 0;
  }
  /// After the call.
  double end_agreement(std::size_t kind) {
    if (overlaps_) return end(machine_.agreement_s * machine_.overlapped);
    if (!due(kind) || length_of(kind) != Group::Length::much) return 0;
    agree();
    return end(machine_.agreement_s);
  }
  double end(double took_s) {
    last_agreement_s_ = took_s;
    for (Rank& rank : ranks_) rank.agreement.end(rank.account);
    return took_s;
  }
  bool due(std::size_t kind) {
    EXPECT_EQ(ranks_[0].groups[kind].agreement_due(), ranks_[1].groups[kind].agreement_due());
    return ranks_[0].groups[kind].agreement_due();
  }
  Group::Length length_of(std::size_t kind) {
    const Group::Length length = ranks_[0].groups[kind].length(ranks_[0].account);
    EXPECT_EQ(ranks_[1].groups[kind].length(ranks_[1].account), length);
    return length;
  }
  void agree() {
    ++agreements_;
    for (Rank& rank : ranks_) {
      for (Group& group : rank.groups) rank.agreement.add(group);
      rank.agreement.close(last_agreement_s_);
    }
    std::vector<double>& ones = ranks_[0].agreement.seconds();
    std::vector<double>& others = ranks_[1].agreement.seconds();
    ASSERT_EQ(ones.size(), others.size());
    for (std::size_t i = 0; i < ones.size(); ++i) ones[i] = others[i] = std::max(ones[i], others[i]);
  }

  std::vector<MadeUpKind> kinds_;
  MadeUpMachine machine_;
  std::mt19937_64 random_;
  double phase_ = 0;
  std::array<Rank, 2> ranks_;
  std::vector<std::vector<int>> prepared_{};
  std::vector<std::vector<MadeUpCall>> calls_;
  double moment_ = 0;
  double last_agreement_s_ = 0;
  int burst_left_ = 0;
  int agreements_ = 0;
  bool overlaps_ = false;
};

}  // namespace circoll::learn
