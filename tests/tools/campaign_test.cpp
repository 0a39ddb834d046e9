// Campaigns: the choice and order of measurements for a program, and conclusions from them.
#include "measured/campaign.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"

namespace circoll {
namespace {

ReportedRow row(Collective collective, Rank p, const std::string& algorithm, std::vector<ReportedSize> sizes) {
  ReportedRow made{.comm_size = p, .mode = "blocking", .collective = collective, .served_by = algorithm, .sizes = {}};
  for (ReportedSize& size : sizes) {
    size.algorithm = algorithm;
    made.calls += size.calls;
    made.bytes += size.bytes;
    made.mean_s += size.mean_s;
  }
  made.mean_inside_s = made.mean_s;
  made.sizes = std::move(sizes);
  return made;
}

/// A size with four ranks and 100 calls of each rank.
ReportedSize size(Count bytes, double seconds) {
  Count from = 1;
  while (from * 2 <= bytes) from *= 2;
  return {.bytes_from = bytes == 0 ? 0 : from, .calls = 400, .bytes = 400 * bytes, .mean_s = seconds, .algorithm = ""};
}

ProgramReport program(std::vector<ReportedRow> rows) {
  return {.source = "r.json", .mpi = "Open MPI", .ranks = 4, .rows = std::move(rows)};
}

CampaignOptions four_ranks() { return {.most_ranks = 4, .ranks_per_node = 4, .machine = default_machine()}; }

TEST(Campaign, TakesTheMostExpensiveCallsFirst) {
  const Campaign campaign = plan_campaign(program({row(Collective::allreduce, 4, "ring", {size(8, 1), size(65536, 5)}),
                                                   row(Collective::allreduce, 4, "native", {size(8, 3)}),
                                                   row(Collective::bcast, 2, "native", {size(100, 2)})}),
                                          four_ranks());
  ASSERT_EQ(campaign.cells.size(), 3U);
  EXPECT_DOUBLE_EQ(campaign.program_s, 11);
  EXPECT_DOUBLE_EQ(campaign.covered_s, 11);
  EXPECT_TRUE(campaign.left_out.empty());
  EXPECT_EQ(campaign.cells[0].bytes, 65536);
  const CampaignCell& shared = campaign.cells[1];  // the algorithms that served the calls in turns are one cell
  EXPECT_EQ(shared.bytes, 8);
  EXPECT_DOUBLE_EQ(shared.program_s, 4);
  EXPECT_DOUBLE_EQ(shared.calls, 200);
  ASSERT_EQ(shared.ran.size(), 2U);
  EXPECT_EQ(shared.candidates.front(), "auto");
  EXPECT_EQ(shared.candidates[1], "native");
  EXPECT_NE(std::find(shared.candidates.begin(), shared.candidates.end(), "ring"), shared.candidates.end());
  EXPECT_EQ(campaign.cells[2].collective, Collective::bcast);
  for (const CampaignCell& cell : campaign.cells) {
    EXPECT_GE(cell.candidates.size(), 5U);  // auto, native and the model's best
    EXPECT_EQ(std::set<std::string>(cell.candidates.begin(), cell.candidates.end()).size(), cell.candidates.size());
    for (const std::string& name : cell.candidates) {
      if (name == "native" || name == "auto") continue;
      EXPECT_NO_THROW((void)parse_selection(cell.collective, name)) << name;
    }
  }
}

TEST(Campaign, KeepsItsTime) {
  std::vector<ReportedRow> rows;
  for (int i = 0; i < 20; ++i) rows.push_back(row(Collective::bcast, 4, "native", {size(Count{1} << i, 20 - i)}));
  const ProgramReport report = program(rows);
  std::size_t before = 0;
  for (const double limit_s : {1.0, 50.0, 100.0, 1000.0}) {
    CampaignOptions options = four_ranks();
    options.limit_s = limit_s;
    const Campaign campaign = plan_campaign(report, options);
    EXPECT_LE(campaign.estimate_s, limit_s);
    EXPECT_EQ(campaign.cells.size() + campaign.left_out.size(), 20U);
    EXPECT_GE(campaign.cells.size(), before);
    before = campaign.cells.size();
    double sum = 0;
    for (const CampaignCell& cell : campaign.cells) sum += options.launches * launch_seconds(cell, options);
    EXPECT_DOUBLE_EQ(sum, campaign.estimate_s);
    // All cells cost the same to measure, so the campaign measures the most expensive ones of the program.
    for (const CampaignCell& cell : campaign.cells) {
      for (const LeftOut& left : campaign.left_out) EXPECT_GE(cell.program_s, left.cell.program_s);
    }
    for (const LeftOut& left : campaign.left_out) EXPECT_NE(left.why.find("time is used up"), std::string::npos);
  }
  EXPECT_EQ(before, 20U);
}

TEST(Campaign, LeavesOutWhatCannotBeMeasured) {
  ReportedRow unknown = row(Collective::bcast, 0, "native", {size(8, 1)});
  const Campaign campaign = plan_campaign(
      program({row(Collective::bcast, 64, "native", {size(8, 6)}), row(Collective::bcast, 1, "native", {size(8, 5)}),
               row(Collective::bcast, 4, "native", {size(0, 4)}), unknown,
               row(Collective::allgather, 4, "native",
                   {{.bytes_from = 1,
                     .calls = 1,
                     .bytes = std::numeric_limits<Count>::max(),
                     .mean_s = 3,
                     .algorithm = ""}}),
               row(Collective::barrier, 4, "native", {size(0, 2)})}),
      four_ranks());
  ASSERT_EQ(campaign.cells.size(), 1U);
  EXPECT_EQ(campaign.cells[0].collective, Collective::barrier);
  ASSERT_EQ(campaign.left_out.size(), 5U);
  EXPECT_EQ(campaign.left_out[0].why, "64 ranks are more than the 4 that can be started here");
  EXPECT_EQ(campaign.left_out[1].why, "one rank has nobody to wait for");
  EXPECT_EQ(campaign.left_out[2].why, "they have no bytes");
  EXPECT_EQ(campaign.left_out[3].why, "their bytes are beyond what can be counted");
  EXPECT_EQ(campaign.left_out[4].why, "the size of their communicators is not known");
}

TEST(Campaign, CountsBytesAsTheBenchDoes) {
  const Campaign campaign =
      plan_campaign(program({row(Collective::allgather, 4, "native", {size(1000, 3)}),
                             row(Collective::reduce_scatter_block, 4, "native", {size(4000, 2)}),
                             row(Collective::gatherv, 4, "native", {size(100, 0.5), size(1000, 0.5)})}),
                    four_ranks());
  ASSERT_EQ(campaign.cells.size(), 3U);
  EXPECT_EQ(campaign.cells[0].bytes, 4000);  // of a block in the report, of the vector in rules
  EXPECT_EQ(campaign.cells[0].measured_bytes(), 1000);
  EXPECT_EQ(campaign.cells[1].bytes, 4000);
  EXPECT_EQ(campaign.cells[1].measured_bytes(), 1000);
  EXPECT_EQ(campaign.cells[2].measured_bytes(), 550);  // where sizes decide nothing there is one cell
}

TEST(Campaign, AlgorithmsOfOtherVersionsAreNoCandidates) {
  const Campaign campaign =
      plan_campaign(program({row(Collective::bcast, 4, "of_tomorrow:x=1", {size(8, 1)})}), four_ranks());
  ASSERT_EQ(campaign.cells.size(), 1U);
  for (const std::string& name : campaign.cells[0].candidates) EXPECT_EQ(name.find("of_tomorrow"), std::string::npos);
}

TEST(Campaign, EveryLaunchHasAllCellsInItsOwnOrder) {
  const auto items = campaign_items(30, 4, 1);
  ASSERT_EQ(items.size(), 120U);
  std::vector<std::vector<std::size_t>> orders(4);
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(items[i].launch, static_cast<int>(i / 30));
    orders[static_cast<std::size_t>(items[i].launch)].push_back(items[i].cell);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<std::size_t> sorted = orders[i];
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t cell = 0; cell < 30; ++cell) EXPECT_EQ(sorted[cell], cell);
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(orders[i], orders[j]);
  }
  const auto cells = [](const std::vector<CampaignItem>& all) {
    std::vector<std::size_t> list;
    for (const CampaignItem& item : all) list.push_back(item.cell);
    return list;
  };
  EXPECT_EQ(cells(items), cells(campaign_items(30, 4, 1)));
  EXPECT_NE(cells(items), cells(campaign_items(30, 4, 2)));
  // The random generator is Circoll's own, so that the order is the same on every machine and in every version.
  EXPECT_EQ(cells(campaign_items(6, 1, 1)), (std::vector<std::size_t>{3, 5, 0, 2, 1, 4}));
  EXPECT_TRUE(campaign_items(0, 3, 1).empty());
}

Launch launch(const std::string& source, std::vector<Measurement> rows) {
  return {.source = source, .setting = "float64, sum", .type = "float64", .op = "sum", .rows = std::move(rows)};
}

Measurement time(Collective collective, Rank p, Count bytes, const std::string& algorithm, double micro) {
  return {.collective = collective,
          .algorithm = algorithm,
          .served_by = algorithm,
          .p = p,
          .bytes = bytes,
          .reps = 10,
          .median_s = micro * 1e-6};
}

constexpr RuleOperator sums{.op = Op::sum, .type = Type::float64};

TEST(Campaign, SaysWhatTheProgramWouldGain) {
  const CampaignCell big{.collective = Collective::bcast, .p = 4, .bytes = 65536, .program_s = 5, .calls = 1000};
  const CampaignCell small{.collective = Collective::bcast, .p = 4, .bytes = 8, .program_s = 1, .calls = 100};
  const CampaignCell unmeasured{.collective = Collective::reduce, .p = 4, .bytes = 8, .program_s = 1, .calls = 100};
  // A campaign starts the bench once for each cell, so that the rows of one launch come in several pieces.
  const std::vector<Launch> launches{
      launch("launch 1",
             {time(Collective::bcast, 4, 65536, "native", 100), time(Collective::bcast, 4, 65536, "auto", 80),
              time(Collective::bcast, 4, 65536, "pipeline:segments=4", 38)}),
      launch("launch 2",
             {time(Collective::bcast, 4, 65536, "native", 100), time(Collective::bcast, 4, 65536, "auto", 90),
              time(Collective::bcast, 4, 65536, "pipeline:segments=4", 42)}),
      launch("launch 1", {time(Collective::bcast, 4, 8, "native", 1.97), time(Collective::bcast, 4, 8, "auto", 2)})};
  const CampaignResult result = evaluate({big, small, unmeasured}, launches, sums, 0.03);
  ASSERT_EQ(result.gains.size(), 2U);
  EXPECT_EQ(result.gains[0].use, "pipeline:segments=4");
  EXPECT_NEAR(result.gains[0].today_s, 85e-6, 1e-12);
  EXPECT_NEAR(result.gains[0].use_s, 40e-6, 1e-12);
  EXPECT_NEAR(result.gains[0].native_s.value(), 100e-6, 1e-12);
  EXPECT_NEAR(result.gains[0].gained_s(), 0.045, 1e-9);
  EXPECT_TRUE(result.gains[0].sure());
  EXPECT_FALSE(result.gains[1].sure()) << "native wins no ties";
  EXPECT_EQ(result.gains[1].fastest, "native");
  EXPECT_EQ(result.gains[1].gained_s(), 0);
  EXPECT_NEAR(result.gained_s, 0.045, 1e-9);
  CellGain slow = result.gains[0];  // the bench was slower than the program
  slow.cell.program_s = 0.01;
  EXPECT_NEAR(slow.gained_s(), 0.01 * 45 / 85, 1e-9);
  // The rules serve these calls, and leave others alone.
  const auto policy = make_rules_policy(rules_json(result.rules, {.op = Op::sum, .type = Type::float64}), "rules");
  const auto use = [&](Count bytes, Rank p = 4) {
    const Decision decision = policy->decide(facts_of(Collective::bcast, p, bytes, Op::sum, Type::float64));
    return decision.selection ? std::string(decision.selection->algorithm->name) : "native";
  };
  EXPECT_EQ(use(65536), "pipeline");
  EXPECT_EQ(use(33000), "pipeline");
  EXPECT_EQ(use(131000), "pipeline");
  const auto model = [&](Count bytes, Rank p) {
    return std::string(default_policy()
                           .decide(facts_of(Collective::bcast, p, bytes, Op::sum, Type::float64))
                           .selection->algorithm->name);
  };
  for (const Count bytes : {Count{8}, Count{1000}, Count{1} << 20, Count{1} << 24})
    EXPECT_EQ(use(bytes), model(bytes, 4)) << bytes;
  EXPECT_EQ(use(65536, 5), model(65536, 5));
}

TEST(Campaign, GainsCountThatExceedTheNoise) {
  CampaignCell cell{.collective = Collective::bcast, .p = 4, .bytes = 8, .program_s = 1, .calls = 100};
  const auto result_of = [&](const std::vector<std::pair<double, double>>& today_and_best, double margin,
                             double noise = 0) {
    std::vector<Launch> launches;
    for (const auto& [today, best] : today_and_best) {
      launches.push_back(launch("launch " + std::to_string(launches.size()),
                                {time(cell.collective, 4, 8, "native", 50), time(cell.collective, 4, 8, "auto", today),
                                 time(cell.collective, 4, 8, "binomial", best)}));
      for (Measurement& row : launches.back().rows) {
        row.low_s = row.median_s * (1 - noise);
        row.high_s = row.median_s * (1 + noise);
      }
    }
    return evaluate({cell}, launches, sums, margin);
  };
  const CampaignResult good = result_of({{10, 9}, {12, 8}}, 0.05);
  ASSERT_FALSE(good.rules.empty());
  EXPECT_EQ(good.gains[0].use, "binomial");
  EXPECT_GT(good.gained_s, 0);
  // In one launch it was slower, or within the margin, or the intervals overlap.
  for (const auto& noise : {std::vector<std::pair<double, double>>{{10, 11}, {12, 4}}, {{10, 9.6}, {12, 4}}}) {
    const CampaignResult none = result_of(noise, 0.05);
    EXPECT_FALSE(none.gains[0].sure());
    EXPECT_EQ(none.gained_s, 0);
    EXPECT_TRUE(none.rules.empty());
  }
  EXPECT_FALSE(result_of({{10, 9.6}, {12, 4}}, 0.01).rules.empty());
  EXPECT_TRUE(result_of({{10, 9.6}, {12, 4}}, 0.01, 0.05).rules.empty());
  EXPECT_TRUE(result_of({{8, 10}, {8, 10}}, 0.05).rules.empty());
  // An allreduce of doubles is not left to the library, however fast it is.
  cell.collective = Collective::allreduce;
  std::vector<Launch> native{
      launch("launch 1", {time(cell.collective, 4, 8, "native", 1), time(cell.collective, 4, 8, "auto", 9)})};
  EXPECT_TRUE(evaluate({cell}, native, sums, 0.03).rules.empty());
  EXPECT_EQ(evaluate({cell}, native, {.op = Op::sum, .type = Type::int32}, 0.03).gains[0].use, "native");
}

TEST(Campaign, ImitatesTheProgram) {
  ReportedSize calls = size(65536, 0.5);  // 100 calls of a rank: 5 ms each
  calls.least_s = 4.5e-3;
  ProgramReport report = program({row(Collective::bcast, 4, "native", {calls})});
  report.calls = 400;
  report.program_s = 0.6;
  Campaign campaign = plan_campaign(report, four_ranks());
  EXPECT_NEAR(campaign.cells.at(0).between_s, 1e-3, 1e-9);
  EXPECT_NEAR(campaign.cells.at(0).spread_s, 1e-3, 1e-9);
  report.program_s = 60;
  report.rows[0].sizes[0].least_s = 1e-6;
  campaign = plan_campaign(report, four_ranks());
  EXPECT_EQ(campaign.cells.at(0).between_s, most_imitated_s);
  EXPECT_EQ(campaign.cells.at(0).spread_s, most_imitated_s);
  report.program_s.reset();
  report.rows[0].sizes[0].least_s = 0;  // of an older version
  campaign = plan_campaign(report, four_ranks());
  EXPECT_EQ(campaign.cells.at(0).between_s, 0);
  EXPECT_EQ(campaign.cells.at(0).spread_s, 0);
}

TEST(Campaign, RulesEndWhereNothingWasMeasured) {
  const auto cell = [](Count bytes, const std::string& use) {
    return RuleCell{.collective = Collective::bcast, .p = 4, .bytes = bytes, .use = use};
  };
  const auto sizes = [](const std::vector<RuleCell>& cells) {
    std::vector<std::pair<Count, std::string>> list;
    for (const RuleCell& one : cells) list.emplace_back(one.bytes, one.use);
    return list;
  };
  using List = std::vector<std::pair<Count, std::string>>;
  EXPECT_EQ(sizes(with_ends({cell(1024, "ring")})), (List{{256, "auto"}, {1024, "ring"}, {4096, "auto"}}));
  EXPECT_EQ(sizes(with_ends({cell(2, "ring")})), (List{{2, "ring"}, {8, "auto"}}));
  EXPECT_EQ(sizes(with_ends({cell(1024, "auto")})), (List{{1024, "auto"}}));
  // Ends of near sizes meet in the middle. Sizes that are far apart get a size between them.
  EXPECT_EQ(sizes(with_ends({cell(1024, "ring"), cell(16384, "native")})),
            (List{{256, "auto"}, {1024, "ring"}, {16384, "native"}, {65536, "auto"}}));
  EXPECT_EQ(sizes(with_ends({cell(1024, "ring"), cell(16385, "native")})),
            (List{{256, "auto"}, {1024, "ring"}, {4096, "auto"}, {16385, "native"}, {65540, "auto"}}));
  EXPECT_EQ(sizes(with_ends({{.collective = Collective::gatherv, .p = 4, .bytes = 0, .use = "linear"}})),
            (List{{0, "linear"}}));
  const Count huge = std::numeric_limits<Count>::max();
  EXPECT_EQ(sizes(with_ends({cell(huge, "ring")})), (List{{huge / 4, "auto"}, {huge, "ring"}}));
}

}  // namespace
}  // namespace circoll
