// The price of learning, and how quickly it decides: thousands of calls with made-up times, noise, bursts, drift and
// delays. Prices are mean times over those of the better of auto and native. Nothing here is timed by a clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "learning_program.hpp"

using circoll::learn::Group;
using circoll::learn::LearningProgram;
using circoll::learn::MadeUpCall;
using circoll::learn::MadeUpKind;
using circoll::learn::MadeUpMachine;

namespace {

struct Machine {
  std::string name;
  MadeUpMachine is{};
};

const std::vector<Machine> machines{{"quiet", {.sigma = 0.01}},
                                    {"noise of 5 %", {.sigma = 0.05}},
                                    {"noise of 12 %", {.sigma = 0.12}},
                                    {"bursts", {.sigma = 0.05, .burst = 0.005}},
                                    {"drift", {.sigma = 0.05, .drift = 0.3}},
                                    {"delays", {.sigma = 0.05, .tail = 0.03}}};
/// Of a call, in seconds: 650 us are an agreement.
const std::vector<double> short_calls{0.3e-3, 1e-3};
constexpr double long_call = 20e-3;
constexpr std::size_t calls = 300;
constexpr std::uint64_t launches = 5;

/// auto, native and four algorithms, one of which is 10 % faster than the better of the two.
MadeUpKind kind_of(double auto_s, double native_over_auto) {
  const double base_s = auto_s * std::min(1.0, native_over_auto);
  return {.times_s = {auto_s, auto_s * native_over_auto, base_s * 0.9, base_s * 1.3, base_s * 1.8, base_s * 1.05},
          .candidates = {{.predicted_s = auto_s},
                         {.native = true},
                         {},
                         {.predicted_s = auto_s * 1.1},
                         {.predicted_s = auto_s * 1.3},
                         {.predicted_s = auto_s * 1.5}},
          .length = auto_s > 1e-3 ? Group::Length::much : Group::Length::ordinary};
}

std::vector<LearningProgram> launched(const MadeUpKind& kind, const Machine& machine) {
  std::vector<LearningProgram> programs;
  for (std::uint64_t seed = 1; seed <= launches; ++seed) {
    programs.emplace_back(std::vector<MadeUpKind>{kind}, machine.is, seed);
    programs.back().calls(calls);
  }
  return programs;
}

/// The median over the launches.
double median_of(const std::vector<LearningProgram>& programs,
                 const std::function<double(const LearningProgram&)>& value) {
  std::vector<double> values;
  for (const LearningProgram& program : programs) values.push_back(value(program));
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The dearest of the windows of 50 calls that begin with calls [from, to).
double dearest(const std::vector<LearningProgram>& programs, std::size_t from, std::size_t to) {
  double dearest = 0;
  for (std::size_t i = from; i < to; ++i) {
    dearest = std::max(dearest, median_of(programs, [&](const auto& program) { return program.price(i, i + 50); }));
  }
  return dearest;
}

double whole(const std::vector<LearningProgram>& programs) {
  return median_of(programs, [](const auto& program) { return program.price(0, calls); });
}

double last_third(const std::vector<LearningProgram>& programs) {
  return median_of(programs, [](const auto& program) { return program.price(calls * 2 / 3, calls); });
}

TEST(LearnPrice, OfLongCallsIsWithinFivePercentInEachWindowAndTwoInTheWhole) {
  for (const Machine& machine : machines) {
    for (const double ratio : {0.5, 0.63, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0}) {
      SCOPED_TRACE(machine.name + ", native / auto " + std::to_string(ratio));
      const auto programs = launched(kind_of(long_call, ratio), machine);
      EXPECT_LE(dearest(programs, 0, calls - 50), 1.05);
      EXPECT_LE(dearest(programs, 12, calls - 50), 1.025);
      EXPECT_LE(whole(programs), 1.02);
      EXPECT_LE(last_third(programs), 1.02);
    }
  }
}

TEST(LearnPrice, OfShortCallsIsWithinFivePercentInEachWindowWhereAutoAndNativeAreNotFarApart) {
  for (const double auto_s : short_calls) {
    for (const Machine& machine : machines) {
      for (const double ratio : {0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5}) {
        SCOPED_TRACE(machine.name + ", native / auto " + std::to_string(ratio) + ", s " + std::to_string(auto_s));
        const auto programs = launched(kind_of(auto_s, ratio), machine);
        EXPECT_LE(dearest(programs, 0, calls - 50), 1.05);
        EXPECT_LE(dearest(programs, 12, calls - 50), 1.03);  // with an agreement, which cannot be divided
        EXPECT_LE(whole(programs), 1.02);
        EXPECT_LE(last_third(programs), 1.02);
      }
    }
  }
}

TEST(LearnPrice, WhereOneIsManyTimesSlowerItServesOneLongCallInAWindow) {
  for (const Machine& machine : machines) {
    for (const double ratio : {0.1, 0.25, 3.9, 8.0}) {
      SCOPED_TRACE(machine.name + ", native / auto " + std::to_string(ratio));
      const auto programs = launched(kind_of(long_call, ratio), machine);
      const double times = std::max(ratio, 1 / ratio);
      EXPECT_LE(dearest(programs, 0, calls - 50), 1 + (times - 1 + 0.5) / 50);
      EXPECT_LE(last_third(programs), 1.02);
    }
  }
}

TEST(LearnPrice, InTheWholeIsWithinTwoPercentOfAThousandCalls) {
  for (const double auto_s : {0.3e-3, 1e-3, long_call}) {
    for (const Machine& machine : machines) {
      for (const double ratio : {0.4, 0.7, 1.0, 1.5, 3.0}) {
        SCOPED_TRACE(machine.name + ", native / auto " + std::to_string(ratio) + ", s " + std::to_string(auto_s));
        LearningProgram program({kind_of(auto_s, ratio)}, machine.is, 7);
        program.calls(1000);
        EXPECT_LE(program.price(0, 1000), 1.02);
        EXPECT_LE(program.price(667, 1000), 1.02);
      }
    }
  }
}

TEST(LearnPrice, ThePriceIsWhatTheAccountHas) {
  // All candidates are slower than the first, so that the time beyond it is the price.
  for (const double auto_s : {0.3e-3, 1e-3, long_call}) {
    MadeUpKind kind = kind_of(auto_s, 1.4);
    kind.times_s[2] = 1.2 * auto_s;
    LearningProgram program({kind}, machines[0].is, 3);
    program.calls(5000);
    double took_s = 0, base_s = 0;
    for (const MadeUpCall& call : program.made()) {
      took_s += call.took_s;
      base_s += call.base_s;
    }
    EXPECT_NEAR(program.account().tried_s() / (took_s - base_s), 1, 0.35) << auto_s;
    EXPECT_NEAR(program.account().in_collectives_s() / base_s, 1, 0.03) << auto_s;
  }
}

TEST(LearnPrice, NativeServesAfterTenCallsWhereItIsFaster) {
  int programs = 0, wrong = 0;
  for (const double native_s : {0.3e-3, 1e-3, long_call}) {
    for (const double auto_over_native : {1.15, 1.3, 1.58, 2.0, 3.0}) {
      for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const Machine& machine = machines[seed % machines.size()];
        LearningProgram program({kind_of(native_s * auto_over_native, 1 / auto_over_native)}, machine.is, seed);
        program.calls(60);
        const auto auto_served = std::count_if(program.made().begin() + 10, program.made().end(),
                                               [](const MadeUpCall& call) { return call.served == 0; });
        ++programs;
        if (auto_served > 5) ++wrong;
      }
    }
  }
  EXPECT_EQ(programs, 600);
  EXPECT_LE(wrong, 6);  // delays that take several calls, of the one only
}

TEST(LearnPrice, OfManyKindsInTurnIsWithinFivePercentInNearlyAllWindows) {
  int windows = 0, dear = 0;
  double took_s = 0, base_s = 0;
  for (const Machine& machine : machines) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const std::vector<MadeUpKind> kinds{kind_of(0.4e-3, 1.2), kind_of(0.5e-3, 0.77), kind_of(2e-3, 0.62),
                                          kind_of(28.7e-3, 0.63), kind_of(5e-3, 2.2)};
      LearningProgram program(kinds, machine.is, seed);
      for (std::size_t call = 0; call < calls; ++call) {
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) program.call(kind);
      }
      for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        for (std::size_t i = 0; i + 50 <= calls; ++i) {
          ++windows;
          if (program.price(i, i + 50, kind) > 1.05) ++dear;
        }
        for (const MadeUpCall& call : program.made(kind)) {
          took_s += call.took_s;
          base_s += call.base_s;
        }
      }
    }
  }
  EXPECT_LE(dear * 100, windows * 4) << dear << " of " << windows;
  EXPECT_LE(took_s, base_s);  // the algorithm that is 10 % faster has been found
}

TEST(LearnPrice, AWrongFirstImpressionIsCorrected) {
  // Delays and bursts of other seeds mislead the opening now and then.
  int slow = 0, programs = 0;
  for (const Machine& machine : machines) {
    for (std::uint64_t seed = 100; seed < 150; ++seed) {
      LearningProgram program({kind_of(5e-3, 0.6)}, machine.is, seed);
      program.calls(600);
      ++programs;
      if (program.price(400, 600) > 1.05) ++slow;
    }
  }
  EXPECT_EQ(programs, 300);
  EXPECT_LE(slow, 1);
}

}  // namespace
