// The questions of the explorer's page, and their answers.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "answers.hpp"

namespace circoll::explorer {
namespace {

/// A page that asks questions.
class Page {
 public:
  json ask(const std::string& what, json question = json::object()) {
    question["ask"] = what;
    const json answered = json::parse(answer(sessions_, question.dump()));
    EXPECT_TRUE(answered.contains("ok")) << answered.dump();
    return answered.value("ok", json());
  }
  std::string error(const std::string& question) {
    const json answered = json::parse(answer(sessions_, question));
    return answered.contains("error") ? answered.at("error").at("what").get<std::string>() : "";
  }

 private:
  Sessions sessions_;
};

TEST(Explorer, EveryExhibitIsRefutedByItsClaim) {
  Page page;
  std::set<Claim> taught;
  for (const Wrong& wrong : gallery()) {
    const Exhibit exhibit = wrong.make();
    const Verdict verdict = verify_schedules(exhibit.ranks, exhibit.claims, exhibit.dependencies);
    ASSERT_FALSE(verdict.proven()) << wrong.name;
    EXPECT_EQ(verdict.refutation->claim, wrong.refuted) << wrong.name << ": " << verdict.refutation->to_string();
    taught.insert(wrong.refuted);
    // The page shows the schedule as far as it can be executed.
    const json opened = page.ask("open_wrong", {{"name", wrong.name}});
    const json contents = page.ask("contents", {{"k", opened.at("rounds")}});
    EXPECT_EQ(contents.at("ranks").size(), opened.at("executes").get<bool>() ? exhibit.ranks.size() : 0U) << wrong.name;
    EXPECT_EQ(page.ask("verdict").at("refutation").at("claim"), to_string(wrong.refuted));
  }
  EXPECT_GE(taught.size(), 8U);
}

TEST(Explorer, ContentsAreThoseOfTheRound) {
  Page page;
  const json opened = page.ask("open", {{"id", "allreduce/recursive_doubling"}, {"p", 4}});
  EXPECT_EQ(opened.at("rounds"), 2);
  EXPECT_EQ(opened.at("messages").size(), 8U * 6);
  const json end = page.ask("contents", {{"k", 2}});
  // Rank 2's recv[0]: buffer, slot, value.
  const json rank = end.at("ranks").at(2);
  ASSERT_GE(rank.size(), 3U);
  EXPECT_EQ(rank.at(0), 1);
  EXPECT_EQ(page.ask("value", {{"value", rank.at(2)}}).at("text"), "(0+1)+(2+3)");
  bool all = false;
  for (const json& value : end.at("values")) all = all || value == json({rank.at(2), 4, 0, 3});
  EXPECT_TRUE(all) << end.dump();
  // The page goes back and on again: values keep their numbers, and each is told once.
  const json begin = page.ask("contents", {{"k", 0}});
  for (const json& value : begin.at("values")) EXPECT_EQ(value.at(1), 1) << begin.dump();
  const json again = page.ask("contents", {{"k", 2}});
  EXPECT_EQ(again.at("ranks"), end.at("ranks"));
}

TEST(Explorer, StepsSayWhatTheyWaitFor) {
  Page page;
  page.ask("open", {{"id", "allgather/ring"}, {"p", 6}});
  const json steps = page.ask("steps", {{"rank", 2}});
  std::size_t send = 0;
  while (steps.at(send).at(0) != 1 || !steps.at(send).at(1).get<std::string>().starts_with("send")) ++send;
  const json step = page.ask("step", {{"rank", 2}, {"step", send}, {"bytes", 6144}});
  EXPECT_EQ(step.at("bytes"), 1024);
  EXPECT_EQ(step.at("blocks"), json({1}));
  ASSERT_EQ(step.at("waits").size(), 1U);
  EXPECT_EQ(step.at("waits").at(0).at("why"), "it brings recv[1], which is read here");
  EXPECT_EQ(step.at("other").at("slots"), "recv[1]");
}

TEST(Explorer, TextIsReadInAllForms) {
  Page page;
  page.ask("open", {{"id", "allgather/bruck"}, {"p", 5}});
  for (const char* const form : {"text", "json", "msccl"}) {
    const json text = page.ask("form", {{"form", form}}).at("text");
    const json given = page.ask("open_text", {{"session", 1}, {"text", text}});
    EXPECT_EQ(given.at("p"), 5) << form;
    EXPECT_TRUE(given.at("verdict").at("proven").get<bool>()) << form;
  }
  EXPECT_TRUE(
      page.ask("form", {{"form", "goal"}, {"bytes", 64}}).at("text").get<std::string>().starts_with("num_ranks 5"));
}

TEST(Explorer, FailuresTimesCostsAndProofsAreTheLibrarys) {
  Page page;
  page.ask("open", {{"id", "allreduce/circulant_optimal"}, {"p", 8}});
  const json failure = page.ask("failure", {{"k", 3}, {"failed", {5}}, {"repair", true}});
  EXPECT_NE(failure.at("repair").at("goal"), "none") << failure.dump();
  EXPECT_FALSE(failure.at("repair").at("messages").empty());
  EXPECT_EQ(page.ask("failures", {{"k", 3}}).size(), 8U);
  const json times = page.ask("times", {{"bytes", 1024}});
  EXPECT_GT(times.at("time_s"), 0);
  EXPECT_EQ(times.at("steps").size(), 8U);
  EXPECT_FALSE(times.at("path").empty());
  const json ranking =
      page.ask("ranking", {{"collective", "allreduce"}, {"p", 8}, {"bytes", 64}, {"id", "allreduce/ring"}});
  EXPECT_LE(ranking.at("ranking").at(0).at("time_s"), ranking.at("shown").at("time_s"));
  const json chart = page.ask("chart", {{"collective", "allreduce"}, {"p", 8}});
  for (const auto& [name, times_s] : chart.at("series").items())
    EXPECT_EQ(times_s.size(), chart.at("sizes").size()) << name;
  // Several algorithms tie at 64 KiB on 8 ranks. The chart names the one that stands first in the ranking.
  for (std::size_t i = 0; i < chart.at("sizes").size(); ++i) {
    const json first =
        page.ask("ranking", {{"collective", "allreduce"}, {"p", 8}, {"bytes", chart.at("sizes").at(i)}}).at("ranking");
    EXPECT_EQ(chart.at("best").at(i), first.at(0).at("name")) << chart.at("sizes").at(i);
  }
  EXPECT_GT(page.ask("proof", {{"id", "allreduce/ring"}, {"p", 7}}).at("instances"), 0);
}

TEST(Explorer, RefusesInWords) {
  Page page;
  EXPECT_NE(page.error("nonsense"), "");
  EXPECT_NE(page.error(R"({"ask":"dance"})"), "");
  EXPECT_NE(page.error(R"({"ask":"contents","k":0})"), "");
  EXPECT_NE(page.error(R"({"ask":"open","id":"allreduce/ring","p":0})"), "");
  EXPECT_NE(page.error(R"({"ask":"open","id":"allreduce/ring","p":4,"root":9})"), "");
  EXPECT_NE(page.error(R"({"ask":"open","id":"alltoall/pairwise","p":100000})"), "");
  EXPECT_NE(page.error(R"({"ask":"open_text","text":"circoll-schedule \ufffd"})"), "");
  page.ask("open", {{"id", "allreduce/ring"}, {"p", 4}});
  EXPECT_NE(page.error(R"({"ask":"step","rank":4,"step":0})"), "");
  EXPECT_NE(page.error(R"({"ask":"failure","k":1,"failed":[0,1,2,3]})"), "");
}

}  // namespace
}  // namespace circoll::explorer
