// Reports of programs are read again, and two groups of runs are compared.
#include "measured/program_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "circoll/error.hpp"
#include "interpose/ledger.hpp"
#include "interpose/report.hpp"
#include "measured/report_sum.hpp"

namespace circoll {
namespace {

using interpose::Event;
using interpose::Ledger;
using interpose::Mode;
using nlohmann::json;

json row(const char* collective, const char* served_by, std::int64_t calls, double seconds, int comm_size = 4,
         const char* mode = "blocking") {
  return {{"comm_size", comm_size},
          {"mode", mode},
          {"collective", collective},
          {"served_by", served_by},
          {"calls", calls},
          {"bytes", calls * 100},
          {"seconds", seconds * 2},
          {"inside_s", seconds * 2},
          {"mean_s", seconds},
          {"mean_inside_s", seconds},
          {"histogram",
           {{{"bytes_from", 64},
             {"bytes_to", 127},
             {"calls", calls},
             {"bytes", calls * 100},
             {"seconds", seconds * 2},
             {"mean_s", seconds},
             {"algorithm", served_by},
             {"why", "-"}}}}};
}

json report(double program_s, std::vector<json> rows, int ranks = 4) {
  std::int64_t calls = 0;
  std::int64_t native = 0;
  for (const json& one : rows) {
    calls += one["calls"].get<std::int64_t>();
    if (one["served_by"] == "native") native += one["calls"].get<std::int64_t>();
  }
  return {{"circoll_report", 1},
          {"mpi", "an MPI"},
          {"ranks", ranks},
          {"calls", calls},
          {"native_calls", native},
          {"program", {{"seconds", program_s * 1.1}, {"mean_s", program_s}}},
          {"a key of tomorrow", {1, 2}},
          {"rows", rows}};
}

ProgramReport read(const json& text) { return report_from_json(text.dump(1), "report"); }

TEST(ProgramReport, IsReadAsTheDropInWritesIt) {
  const Selection ring = parse_selection("allreduce/segmented_ring:segments=4");
  Ledger first;
  Ledger second;
  const Event call{.collective = Collective::allreduce,
                   .ranks = 2,
                   .served = &ring,
                   .reason = "-",
                   .bytes = 100,
                   .begin_s = 0,
                   .end_s = 2,
                   .inside_s = 2};
  first.add(call);
  second.add(call);
  second.add({.collective = Collective::bcast,
              .mode = Mode::nonblocking,
              .ranks = 2,
              .reason = "chosen",
              .bytes = 7,
              .begin_s = 0,
              .end_s = 4,
              .inside_s = 1});
  interpose::Report written({.ranks = 2, .mpi = "MPICH Version: 4.0.2", .program_s = {8, 12}});
  written.add_rank(first.serialised());
  written.add_rank(second.serialised());
  const ProgramReport report = report_from_json(written.json(), "file");
  EXPECT_EQ(report.source, "file");
  EXPECT_EQ(report.mpi, "MPICH Version: 4.0.2");
  EXPECT_EQ(report.ranks, 2);
  EXPECT_EQ(report.calls, 3);
  EXPECT_EQ(report.native_calls, 1);
  EXPECT_DOUBLE_EQ(report.program_s.value(), 10);
  ASSERT_EQ(report.rows.size(), 2U);
  EXPECT_EQ(report.rows[0].sizes.at(0).algorithm, "segmented_ring:segments=4");
  EXPECT_EQ(report.rows[0].sizes.at(0).bytes_from, 64);
  EXPECT_EQ(report.rows[0].bytes, 200);
  EXPECT_DOUBLE_EQ(report.rows[0].mean_s, 2);
  EXPECT_TRUE(report.rows[1].native());
  EXPECT_DOUBLE_EQ(report.rows[1].mean_s, 2);  // of the two ranks one has called it
  EXPECT_DOUBLE_EQ(report.rows[1].mean_inside_s, 0.5);
  EXPECT_DOUBLE_EQ(report.collectives_s(), 2.5);
}

TEST(ProgramReport, TellsNeighbourhoodsFromTheCollectivesAmongAllRanks) {
  const std::vector<json> rows{row("alltoall", "direct", 3, 0.5), row("neighbor_alltoall", "direct", 5, 0.25),
                               row("neighbor_alltoall", "native", 1, 0.125)};
  const ProgramReport both = read(report(2, rows));
  ASSERT_EQ(both.rows.size(), 3U);
  EXPECT_EQ(both.rows[0].collective, Collective::alltoall);
  EXPECT_EQ(both.rows[1].collective, NeighborFunction::alltoall);
  EXPECT_EQ(both.calls, 9);
  EXPECT_DOUBLE_EQ(both.collectives_s(), 0.875);
  const ReportSum sum = add_up({both});
  ASSERT_EQ(sum.collectives.size(), 2U);
  EXPECT_EQ(sum.collectives[1].collective, NeighborFunction::alltoall);
  EXPECT_EQ(sum.collectives[1].calls, 6);
  EXPECT_EQ(sum.collectives[1].native_calls, 1);
}

TEST(Comparison, OfNeighbourhoodsAdvisesNoTuning) {
  const auto run = [](const char* served_by, double seconds, std::vector<json> others) {
    others.push_back(row("neighbor_alltoall", served_by, 5, seconds));
    ProgramReport made = read(report(10 + seconds, std::move(others)));
    made.others = 0;
    return made;
  };
  const std::vector<ProgramReport> native(8, run("native", 4, {})), direct(8, run("direct", 6, {}));
  EXPECT_EQ(compare_runs(native, native).advice, "nothing: collectives among neighbours have one algorithm");
  EXPECT_NE(compare_runs(native, direct).advice.find("set CIRCOLL_NEIGHBOR=native"), std::string::npos);
  const std::vector<ProgramReport> more(8, run("native", 4, {row("bcast", "native", 5, 1)}));
  EXPECT_NE(compare_runs(more, more).advice.find("circoll tune"), std::string::npos);
}

TEST(ProgramReport, OfOlderVersionsHasTimesOfTheSlowestRank) {
  json old = report(10, {row("bcast", "native", 8, 3)});
  old.erase("program");
  old["rows"][0].erase("mean_s");
  old["rows"][0].erase("mean_inside_s");
  old["rows"][0]["histogram"][0].erase("mean_s");
  const ProgramReport read_again = read(old);
  EXPECT_FALSE(read_again.program_s.has_value());
  EXPECT_DOUBLE_EQ(read_again.rows[0].mean_inside_s, 6);
}

TEST(ProgramReport, SaysWhatIsWrongAndWhere) {
  const auto error_of = [](const json& text) -> std::string {
    try {
      (void)read(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse);
      return error.what();
    }
    return "";
  };
  const json good = report(10, {row("bcast", "native", 8, 3)});
  EXPECT_EQ(error_of(good), "");
  const auto with = [&](auto&& change) {
    json bad = good;
    change(bad);
    return error_of(bad);
  };
  EXPECT_NE(with([](json& r) { r.erase("circoll_report"); }).find("report:1: this is no report"), std::string::npos);
  EXPECT_NE(with([](json& r) { r["circoll_report"] = 2; }).find("only version 1"), std::string::npos);
  EXPECT_NE(with([](json& r) { r["rows"][0]["collective"] = "bcats"; }).find("'bcats' is no collective"),
            std::string::npos);
  EXPECT_NE(with([](json& r) { r["rows"][0]["calls"] = -1; }).find("must not be negative"), std::string::npos);
  EXPECT_NE(with([](json& r) { r["rows"][0]["mean_s"] = -1; }).find("is no time"), std::string::npos);
  EXPECT_NE(with([](json& r) { r["rows"][0]["mode"] = "lazy"; }).find("is no mode"), std::string::npos);
  EXPECT_NE(with([](json& r) { r["rows"][0]["histogram"][0]["calls"] = 9; }).find("more calls than their row"),
            std::string::npos);
  EXPECT_NE(with([](json& r) { r["ranks"] = 0; }).find("out of range"), std::string::npos);
  EXPECT_NE(with([](json& r) { r["rows"] = 1; }).find("is no list"), std::string::npos);
}

TEST(ProgramReport, DamagedOnesAreRefusedOrRead) {
  const std::string good = report(10, {row("bcast", "native", 8, 3), row("allreduce", "ring", 80, 1)}).dump(1);
  std::mt19937 random(5);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text[at] = static_cast<char>(random() % 256);
        break;
      case 2:
        text.erase(at, 1 + random() % 8);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 16));
        break;
    }
    try {
      const ProgramReport read = report_from_json(text, "damaged");
      (void)compare_runs({read}, {read});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 5000);
}

const ComparedCalls& calls_of(const RunComparison& all, Collective collective, const std::string& mode = "blocking") {
  return *std::find_if(all.calls.begin(), all.calls.end(),
                       [&](const ComparedCalls& one) { return one.collective == collective && one.mode == mode; });
}

bool mentions(const std::vector<std::string>& sentences, std::string_view what) {
  return std::any_of(sentences.begin(), sentences.end(),
                     [&](const std::string& sentence) { return sentence.find(what) != std::string::npos; });
}

TEST(ReportSum, AddsUpJobs) {
  const auto native = [](const char* collective, std::int64_t calls, double seconds, const char* why) {
    json one = row(collective, "native", calls, seconds);
    one["why_native"] = why;
    return one;
  };
  json untimed = report(5, {row("bcast", "linear", 10, 1)}, 16);
  untimed["program"] = nullptr;
  untimed["mpi"] = "another MPI";
  const ReportSum sum = add_up({read(report(20, {row("allreduce", "ring", 60, 3), row("allreduce", "circulant", 20, 4),
                                                 native("bcast", 8, 1, "chosen"), native("bcast", 4, 1, "rare")})),
                                read(report(30, {native("bcast", 6, 2, "chosen")}, 2)), read(untimed)});
  EXPECT_EQ(sum.jobs, 3);
  EXPECT_EQ(sum.least_ranks, 2);
  EXPECT_EQ(sum.most_ranks, 16);
  EXPECT_EQ(sum.mpis, (std::map<std::string, int>{{"an MPI", 2}, {"another MPI", 1}}));
  EXPECT_EQ(sum.calls, 108);
  EXPECT_EQ(sum.native_calls, 18);
  EXPECT_DOUBLE_EQ(sum.collectives_s, 12);
  EXPECT_DOUBLE_EQ(sum.program_s, 50);
  EXPECT_DOUBLE_EQ(sum.program_collectives_s, 11);
  ASSERT_EQ(sum.collectives.size(), 2U);
  EXPECT_EQ(sum.collectives[0].collective, Collective::allreduce);
  EXPECT_EQ(sum.collectives[0].jobs, 1);
  EXPECT_EQ(sum.collectives[0].calls, 80);
  EXPECT_EQ(sum.collectives[0].native_calls, 0);
  EXPECT_DOUBLE_EQ(sum.collectives[0].seconds, 7);
  EXPECT_EQ(sum.collectives[0].mostly, "circulant");
  EXPECT_EQ(sum.collectives[1].jobs, 3);
  EXPECT_EQ(sum.collectives[1].native_calls, 18);
  EXPECT_EQ(sum.collectives[1].mostly, "native");
  ASSERT_EQ(sum.reasons.size(), 2U);
  EXPECT_EQ(sum.reasons[0].reason, "chosen");
  EXPECT_EQ(sum.reasons[0].jobs, 2);
  EXPECT_EQ(sum.reasons[0].calls, 14);
  EXPECT_EQ(sum.reasons[1].calls, 4);
  EXPECT_EQ(add_up({}).jobs, 0);
}

TEST(ReportSum, ReadsLines) {
  const std::string path = testing::TempDir() + "circoll_report_sum.jsonl";
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  const std::string line = report(20, {row("allreduce", "ring", 60, 3)}).dump() + "\n";
  write(line + line);
  EXPECT_EQ(read_reports(path).size(), 2U);
  EXPECT_EQ(read_reports(path)[1].calls, 60);
  write(line + "{\"circoll_report\": 1}\n");
  try {
    (void)read_reports(path);
    FAIL() << "a damaged line is read";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(path + ", line 2:")) << error.what();
  }
  write("{\"circoll_machine\": 1}\n");
  EXPECT_THROW((void)read_reports(path), Error);
  std::remove(path.c_str());
  EXPECT_THROW((void)read_reports(path), Error);
}

/// Runs on a machine that was quiet, one for each time in the only row. The program takes so much longer.
std::vector<ProgramReport> runs(std::initializer_list<double> seconds, const char* served_by, double rest_s = 0,
                                double others = 0) {
  std::vector<ProgramReport> all;
  for (const double s : seconds) {
    all.push_back(read(report(rest_s + s, {row("bcast", served_by, 8, s)})));
    all.back().others = others;
  }
  return all;
}

TEST(Comparison, AddsUpWhatWasMeasured) {
  // In one run ring and the library serve allreduce, in 1.5 + 0.5 s. In the other run it takes 4 s.
  const ProgramReport without = read(report(20, {row("allreduce", "native", 80, 4), row("bcast", "native", 8, 1)}));
  const ProgramReport with = read(report(
      19, {row("allreduce", "ring", 60, 1.5), row("allreduce", "native", 20, 0.5), row("bcast", "binomial", 8, 2)}));
  const RunComparison all = compare_runs({without}, {with});
  EXPECT_DOUBLE_EQ(all.program_without.median_s, 20);
  EXPECT_DOUBLE_EQ(all.program_with.median_s, 19);
  EXPECT_DOUBLE_EQ(all.collectives_without.median_s, 5);
  EXPECT_DOUBLE_EQ(all.collectives_with.median_s, 4);
  EXPECT_DOUBLE_EQ(all.share_without().value(), 0.25);
  EXPECT_DOUBLE_EQ(all.share_with().value(), 4.0 / 19);
  ASSERT_EQ(all.calls.size(), 2U);
  EXPECT_EQ(all.calls[0].collective, Collective::allreduce);  // the most expensive first
  const ComparedCalls& allreduce = all.calls[0];
  EXPECT_EQ(allreduce.calls, 80);
  EXPECT_EQ(allreduce.calls_with, 80);
  EXPECT_EQ(allreduce.native_calls, 20);
  EXPECT_DOUBLE_EQ(allreduce.speedup().value(), 2);
  EXPECT_DOUBLE_EQ(allreduce.gained_s(), 2);
  // One pair decides nothing, and so there is no advice about single collectives.
  EXPECT_EQ(all.verdict().change, Change::undecided);
  EXPECT_NEAR(all.verdict().ratio, 20.0 / 19, 1e-9);
  EXPECT_EQ(allreduce.verdict.change, Change::undecided);
  EXPECT_NE(all.advice.find("more pairs of runs"), std::string::npos);
  EXPECT_TRUE(mentions(all.remarks, "one run of a kind"));
}

TEST(Comparison, TheProgramsTimeIsTheJudge) {
  // Its collectives are faster for sure. Its time is the same for sure.
  const auto faster = runs({1, 1.01, 0.99, 1, 1.02, 1.01}, "ring", 1000);
  const auto slower = runs({1.5, 1.51, 1.49, 1.5, 1.52, 1.51}, "native", 1000);
  const RunComparison all = compare_runs(slower, faster);
  EXPECT_EQ(all.collectives.change, Change::faster);
  EXPECT_EQ(all.calls[0].verdict.change, Change::faster);
  EXPECT_EQ(all.verdict().change, Change::same);
  EXPECT_TRUE(all.advice.starts_with("nothing: collectives take less than 2 %")) << all.advice;
  // Without the program's time, that in collectives decides.
  auto old_without = slower, old_with = faster;
  for (auto* const all_runs : {&old_without, &old_with}) {
    for (ProgramReport& run : *all_runs) run.program_s.reset();
  }
  const RunComparison old = compare_runs(old_without, old_with);
  EXPECT_EQ(old.program.change, Change::missing);
  EXPECT_EQ(old.verdict().change, Change::faster);
  EXPECT_TRUE(mentions(old.remarks, "older version"));
}

TEST(Comparison, OneAdviceOfWhatIsDecided) {
  const auto fast = runs({10, 10.1, 9.9, 10, 10.2, 10.1}, "ring", 5);
  const auto slow = runs({15, 15.1, 14.9, 15, 15.2, 15.1}, "native", 5);
  EXPECT_NE(compare_runs(slow, fast).advice.find("circoll run"), std::string::npos);
  const RunComparison lost = compare_runs(runs({10, 10.1, 9.9, 10, 10.2, 10.1}, "native", 5),
                                          runs({15, 15.1, 14.9, 15, 15.2, 15.1}, "ring", 5));
  EXPECT_EQ(lost.verdict().change, Change::slower);
  EXPECT_EQ(lost.advice, "set CIRCOLL_BCAST=native, because with Circoll bcast took 5 s more");
  // The program loses far more than its collectives.
  const RunComparison elsewhere = compare_runs(runs({10, 10.1, 9.9, 10, 10.2, 10.1}, "native", 5),
                                               runs({15, 15.1, 14.9, 15, 15.2, 15.1}, "ring", 50));
  EXPECT_TRUE(elsewhere.advice.starts_with("leave the program with the MPI library's own")) << elsewhere.advice;
  // The same times beside other processes are too few.
  const RunComparison busy =
      compare_runs(runs({10, 10.1, 9.9, 10, 10.2, 10.1}, "native", 5, 0.55),
                   runs({15, 15.1, 14.9, 15, 15.2, 15.1}, "ring", 5, 0.55), 0.03, {.pair_s = 5, .limit_s = 60});
  EXPECT_EQ(busy.verdict().change, Change::undecided);
  EXPECT_EQ(busy.advice, "about 2 more pairs, 10 s, may decide: --limit 80");
  EXPECT_TRUE(mentions(busy.remarks, "other processes took 55 % of the processors"));
  EXPECT_FALSE(mentions(lost.remarks, "other processes"));
  // A judge that looked while the runs were made has the last word.
  Judgement judgement;
  judgement.change = Change::same;
  EXPECT_EQ(compare_runs(slow, fast, 0.03, {.verdict = judgement}).verdict().change, Change::same);
}

TEST(Comparison, SmallRowsAreFolded) {
  const ProgramReport without =
      read(report(20, {row("allreduce", "native", 80, 4), row("barrier", "native", 2, 0.01)}));
  const RunComparison all = compare_runs({without}, {without});
  EXPECT_FALSE(all.is_small(calls_of(all, Collective::allreduce)));
  EXPECT_TRUE(all.is_small(calls_of(all, Collective::barrier)));
}

TEST(Comparison, TheLoadIsReadAgain) {
  json text = report(10, {row("bcast", "native", 8, 3)});
  EXPECT_FALSE(read(text).others);
  text["load"] = {{"others", 0.25}, {"pressure", 0.5}};
  EXPECT_EQ(read(text).others, 0.25);
  EXPECT_EQ(read(text).pressure, 0.5);
}

TEST(Comparison, OfWhatIsMissingOrTakesNoTime) {
  const ProgramReport without = read(report(10, {row("bcast", "native", 8, 0), row("gather", "native", 8, 1)}));
  const ProgramReport with = read(report(10, {row("bcast", "ring", 8, 0), row("scatter", "binomial", 4, 1)}));
  const RunComparison all = compare_runs({without}, {with});
  EXPECT_EQ(all.calls.size(), 3U);
  EXPECT_EQ(calls_of(all, Collective::bcast).verdict.ratio, 1);
  EXPECT_FALSE(calls_of(all, Collective::bcast).speedup().has_value());
  EXPECT_EQ(calls_of(all, Collective::gather).verdict.change, Change::missing);
  EXPECT_EQ(calls_of(all, Collective::gather).calls_with, 0);
  EXPECT_EQ(calls_of(all, Collective::scatter).verdict.change, Change::missing);
  EXPECT_TRUE(mentions(all.remarks, "different numbers of calls"));

  const ProgramReport idle = read(report(0, {}));
  const RunComparison nothing = compare_runs({idle}, {idle});
  EXPECT_FALSE(nothing.share_with().has_value());
  EXPECT_EQ(nothing.collectives.change, Change::undecided);
  EXPECT_TRUE(nothing.calls.empty());
}

TEST(Comparison, SpeaksOfRunsThatAreNotWhatTheyShouldBe) {
  const ProgramReport native = read(report(10, {row("bcast", "native", 8, 3)}));
  const ProgramReport served =
      read(report(10, {row("bcast", "ring", 8, 3), row("gather", "native", 8, 1, 4, "nonblocking")}));
  EXPECT_TRUE(mentions(compare_runs({served}, {native}).remarks, "was not native: Circoll served 8 of its calls"));
  EXPECT_TRUE(mentions(compare_runs({native}, {native}).remarks, "no call was served by Circoll"));
  EXPECT_TRUE(mentions(compare_runs({native}, {served}).remarks, "calls that do not block"));
  EXPECT_THROW((void)compare_runs({}, {served}), Error);
  EXPECT_THROW((void)compare_runs({native}, {}), Error);
  EXPECT_THROW((void)compare_runs({native}, {read(report(10, {}, 8))}), Error);
}

}  // namespace
}  // namespace circoll
