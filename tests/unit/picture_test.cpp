// Pictures: well-formed, one arrow per message, deterministic, and refused if the schedules do not belong
// together.
#include "circoll/picture.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"

namespace circoll {
namespace {

std::vector<Schedule> all_ranks(const Algorithm& algorithm, Collective collective, Rank p, Rank root = 0) {
  std::vector<Schedule> schedules;
  for (Rank rank = 0; rank < p; ++rank) {
    schedules.push_back(build_schedule(algorithm, collective, {.size = p, .rank = rank, .root = root}));
  }
  return schedules;
}

std::size_t occurrences(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + what.size())) ++count;
  return count;
}

/// Empty if tags nest, attributes are quoted and '&' begins an entity; else what is wrong.
std::string ill_formed(std::string_view xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; (at = xml.find('<', at)) != xml.npos;) {
    const std::size_t end = xml.find('>', at);
    if (end == xml.npos) return "a tag does not end";
    const std::string_view tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != tag.npos) return "a tag within a tag: " + std::string(tag);
    if (occurrences(tag, "\"") % 2 != 0) return "an odd number of quotes: " + std::string(tag);
    const std::string name(tag.substr(0, tag.find_first_of(" /", 1)));
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != std::string(tag)) return "unexpected <" + std::string(tag) + ">";
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    at = end;
  }
  for (std::size_t at = 0; (at = xml.find('&', at)) != xml.npos; ++at) {
    const std::size_t end = xml.find(';', at);
    if (end == xml.npos || end - at > 6) return "a bare ampersand";
  }
  if (xml.find("nan") != xml.npos || xml.find("inf") != xml.npos) return "a coordinate is not a number";
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

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
