// Pictures: well-formed, one arrow per message, deterministic, and refused if the schedules do not belong together.
#include "show/picture.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "support/xml.hpp"

namespace circoll {
namespace {

std::vector<Schedule> all_ranks(const Algorithm& algorithm, Collective collective, Rank p, Rank root = 0) {
  std::vector<Schedule> schedules;
  for (Rank rank = 0; rank < p; ++rank) {
    schedules.push_back(build_schedule(algorithm, collective, {.size = p, .rank = rank, .root = root}));
  }
  return schedules;
}

using xml::ill_formed;
using xml::occurrences;

TEST(Picture, OneArrowPerMessage) {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Rank p : {1, 2, 3, 8, 11, 40}) {
      if (!unmet_need(*algorithm, p, {}).empty()) continue;
      const Collective collective = algorithm->collectives.front();
      const auto schedules = all_ranks(*algorithm, collective, p, is_rooted(collective) ? p / 2 : 0);
      std::size_t messages = 0;
      for (const Schedule& s : schedules) {
        for (const Step& step : s.steps) messages += step.kind == StepKind::send ? 1 : 0;
      }
      const std::string svg = to_svg(schedules);
      EXPECT_EQ(ill_formed(svg), "") << schedules[0].id << " p=" << p;
      EXPECT_EQ(occurrences(svg, "<path class=\"message "), messages) << schedules[0].id << " p=" << p;
      EXPECT_EQ(svg, to_svg(schedules));
      EXPECT_NE(svg.find(schedules[0].id), svg.npos);
    }
  }
}

TEST(Picture, SaysWhatAMessageCarries) {
  const auto named = [](Collective collective, const char* name, Rank p) {
    return to_svg(all_ranks(*find_algorithm(collective, name), collective, p));
  };
  EXPECT_NE(named(Collective::allgather, "ring", 3).find("<title>0 → 1: block 0</title>"), std::string::npos);
  const std::string scattered = named(Collective::scatter, "binomial", 8);
  EXPECT_NE(scattered.find("<title>0 → 4: blocks 4–7</title>"), std::string::npos) << scattered;
  EXPECT_NE(scattered.find("p = 8, root 0, 8 blocks, "), std::string::npos) << scattered;
  // Rounds 0 and 5, in which the same two ranks meet, do not look like a number with a decimal comma.
  const std::string halving = named(Collective::allreduce, "rabenseifner", 8);
  EXPECT_NE(halving.find(">0 and 5</text>"), std::string::npos) << halving;
}

TEST(Picture, EscapesTheId) {
  auto schedules = all_ranks(*find_algorithm(Collective::allreduce, "circulant_optimal"), Collective::allreduce, 3);
  for (Schedule& s : schedules) s.id = "a<b>&\"c\"\n";
  const std::string svg = to_svg(schedules);
  EXPECT_EQ(ill_formed(svg), "");
  EXPECT_NE(svg.find("a&lt;b&gt;&amp;&quot;c&quot;?"), svg.npos);
}

TEST(Picture, RefusesStrangers) {
  const auto whole = all_ranks(*find_algorithm(Collective::allreduce, "circulant_optimal"), Collective::allreduce, 4);
  const auto refused = [](const std::vector<Schedule>& schedules) {
    try {
      (void)to_svg(schedules);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  EXPECT_FALSE(refused(whole));
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({whole[0], whole[1], whole[2]}));
  EXPECT_TRUE(refused({whole[1], whole[0], whole[2], whole[3]}));
  auto other = whole;
  other[2].rounds += 1;
  EXPECT_TRUE(refused(other));
  auto unsound = whole;
  unsound[2].steps[0].peer = 9;
  EXPECT_TRUE(refused(unsound));
}

TEST(Picture, ManyEmptyRoundsCostNoMemory) {
  auto schedules = all_ranks(*find_algorithm(Collective::allreduce, "circulant_optimal"), Collective::allreduce, 2);
  for (Schedule& s : schedules) {
    s.rounds = 2000000000;
    for (Step& step : s.steps) step.round = s.rounds - 1;
  }
  EXPECT_THROW((void)to_svg(schedules), Error);
}

}  // namespace
}  // namespace circoll
