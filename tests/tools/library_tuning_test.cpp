// Choices among the algorithms inside an MPI library, for tuning files of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "circoll/error.hpp"
#include "measured/guidelines.hpp"
#include "measured/tuning.hpp"

namespace circoll {
namespace {

Measurement row(const std::string& algorithm, Count bytes, double median_us,
                Collective collective = Collective::bcast) {
  return {.collective = collective,
          .algorithm = algorithm,
          .served_by = algorithm,
          .p = 8,
          .bytes = bytes,
          .reps = 10,
          .median_s = median_us * 1e-6};
}

Launch launch(std::vector<Measurement> rows) {
  return {.source = "test.json",
          .setting = "float64, sum, root 0, started by clock",
          .type = "float64",
          .op = "sum",
          .rows = std::move(rows)};
}

std::map<Count, std::string> choices(const std::vector<Launch>& launches, const TuneOptions& options) {
  std::map<Count, std::string> chosen;
  for (const RuleCell& cell : tune(launches, options)) chosen[cell.bytes] = cell.use;
  return chosen;
}

TEST(LibraryTuning, LibraryIsWhatStandsBeforeTheSlash) {
  EXPECT_EQ(library_of("openmpi/segmented_ring:segment=65536"), "openmpi");
  EXPECT_EQ(library_of("mpich/recursive_doubling"), "mpich");
  EXPECT_EQ(library_of("native"), "");
  EXPECT_EQ(library_of("ring:segment=1024"), "");
}

TEST(LibraryTuning, EachFileChoosesFromItsOwnAlgorithms) {
  const std::vector<Launch> launches{
      launch({row("native", 1024, 100), row("binomial", 1024, 10), row("auto", 1024, 5),
              row("openmpi/chain:segment=4096,fanout=4", 1024, 50), row("mpich/binomial", 1024, 1),
              row("native", 65536, 100), row("openmpi/pipeline", 65536, 96)})};
  EXPECT_EQ(choices(launches, {.library = "openmpi"}),
            (std::map<Count, std::string>{{1024, "openmpi/chain:segment=4096,fanout=4"}, {65536, "native"}}));
  EXPECT_EQ(choices(launches, {.margin = 0, .library = "openmpi"}).at(65536), "openmpi/pipeline");
  EXPECT_EQ(choices(launches, {.library = "mpich"}).at(1024), "mpich/binomial");
  // Circoll's rules cannot name these algorithms.
  EXPECT_EQ(choices(launches, {}), (std::map<Count, std::string>{{1024, "auto"}, {65536, "native"}}));
  EXPECT_NO_THROW((void)rules_json(tune(launches), measured_operator(launches.front())));
}

TEST(LibraryTuning, WrongResultsNeverWin) {
  std::vector<Measurement> rows{row("native", 1024, 100), row("openmpi/ring", 1024, 1),
                                row("openmpi/rabenseifner", 1024, 50)};
  for (Measurement& one : rows) one.collective = Collective::allreduce;
  rows[1].wrong = true;
  EXPECT_EQ(choices({launch(rows)}, {.library = "openmpi"}).at(1024), "openmpi/rabenseifner");
  // An algorithm that was wrong in one launch only may not be chosen either.
  std::vector<Measurement> others = rows;
  others[1].wrong = false;
  EXPECT_EQ(choices({launch(rows), launch(others)}, {.library = "openmpi"}).at(1024), "openmpi/rabenseifner");
}

TEST(LibraryTuning, OthersThatWereMeasuredMoreOftenDoNotCount) {
  const std::vector<Measurement> ours{row("ring", 1024, 1)};
  const std::vector<Measurement> inside{row("native", 1024, 100), row("openmpi/binomial", 1024, 50)};
  EXPECT_EQ(choices({launch(inside), launch(ours), launch(ours)}, {.library = "openmpi"}).at(1024), "openmpi/binomial");
}

TEST(LibraryTuning, NativeStaysWhereItWonALaunch) {
  const std::vector<Launch> launches{launch({row("native", 1024, 100), row("openmpi/binomial", 1024, 50)}),
                                     launch({row("native", 1024, 100), row("openmpi/binomial", 1024, 101)}),
                                     launch({row("native", 1024, 100), row("openmpi/binomial", 1024, 50)})};
  EXPECT_EQ(choices(launches, {.library = "openmpi"}).at(1024), "openmpi/binomial");
  EXPECT_EQ(choices(launches, {.in_every_launch = true, .library = "openmpi"}).at(1024), "native");
}

/// For random times the choice is the fastest algorithm that may be chosen.
TEST(LibraryTuning, NothingThatMayBeChosenIsFaster) {
  std::mt19937_64 random(7);
  const std::vector<std::string> names{"native", "openmpi/binomial", "openmpi/pipeline:segment=8192", "ring",
                                       "mpich/nb"};
  for (int round = 0; round < 200; ++round) {
    std::vector<Measurement> rows;
    double least = 1e9;
    for (const std::string& name : names) {
      rows.push_back(row(name, 4096, 1 + static_cast<double>(random() % 1000)));
      rows.back().wrong = name != "native" && random() % 4 == 0;
      const bool candidate = name == "native" || library_of(name) == "openmpi";
      if (candidate && !rows.back().wrong) least = std::min(least, rows.back().median_s);
    }
    const std::string chosen = choices({launch(rows)}, {.margin = 0, .library = "openmpi"}).at(4096);
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const Measurement& one) { return one.algorithm == chosen; });
    ASSERT_NE(found, rows.end());
    EXPECT_EQ(found->median_s, least) << chosen;
    EXPECT_FALSE(found->wrong);
  }
}

TEST(LibraryTuning, ALibraryThatWasNotMeasuredIsMisuse) {
  const std::vector<Launch> launches{launch({row("native", 1024, 100), row("openmpi/binomial", 1024, 50)})};
  try {
    (void)tune(launches, {.library = "mpich"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("--native-algorithms"), std::string::npos) << error.what();
  }
}

TEST(LibraryTuning, FilesSayUnderWhichLibraryTheyWereMade) {
  const std::string rows = R"("rows": [{"collective": "bcast", "algorithm": "openmpi/knomial", "served_by":
    "openmpi/knomial", "p": 8, "bytes": 8, "reps": 3, "median_us": 1, "correct": "yes"}]})";
  const std::string head = R"({"type": "byte", "op": "bor", "root": 0, )";
  const Launch named = launch_from_json(head + R"("mpi": "openmpi 4.1.4", )" + rows, "1.json");
  EXPECT_EQ(named.mpi, "openmpi 4.1.4");
  EXPECT_EQ(named.rows.at(0).algorithm, "openmpi/knomial");
  const Launch other = launch_from_json(head + R"("mpi": "mpich 4.0.2", )" + rows, "2.json");
  EXPECT_THROW((void)tune({named, other}), Error);
  EXPECT_EQ(launch_from_json(head + rows, "3.json").mpi, "");
}

GuidelineRun run_of(const std::map<std::pair<std::string, std::string>, double>& times) {
  GuidelineRun run{.launch = launch({}), .sides = {}};
  for (const auto& [key, median_us] : times) {
    run.sides.push_back({.side = key.first,
                         .algorithm = key.second,
                         .served_by = key.second,
                         .p = 8,
                         .bytes = 1024,
                         .reps = 9,
                         .median_s = median_us * 1e-6});
  }
  return run;
}

TEST(LibraryTuning, ViolatedGuidelinesAreMendedByTheLibraryItself) {
  const GuidelineRun run = run_of({{{"allreduce", "native"}, 30},
                                   {{"allreduce", "ring"}, 5},
                                   {{"allreduce", "openmpi/rabenseifner"}, 15},
                                   {{"allreduce", "openmpi/ring"}, 18},
                                   {{"reduce+bcast", "native"}, 20},
                                   {{"bcast", "native"}, 10},
                                   {{"bcast", "openmpi/binomial"}, 5}});
  const std::vector<GuidelineRun> runs(4, run);
  std::map<Collective, std::string> used;
  for (const RuleCell& cell : guideline_fixes(runs, check_guidelines(runs), {}, "openmpi")) {
    used[cell.collective] = cell.use;
  }
  EXPECT_EQ(used.at(Collective::allreduce), "openmpi/rabenseifner");
  EXPECT_EQ(used.at(Collective::bcast), "native");  // faster is possible, but nothing is violated
  for (const RuleCell& cell : guideline_fixes(runs, check_guidelines(runs))) {
    EXPECT_EQ(library_of(cell.use), "") << cell.use;
  }
}

TEST(LibraryTuning, WithoutAFasterOneAViolationStays) {
  const GuidelineRun run =
      run_of({{{"allreduce", "native"}, 30}, {{"allreduce", "openmpi/ring"}, 40}, {{"reduce+bcast", "native"}, 20}});
  const std::vector<GuidelineRun> runs(4, run);
  EXPECT_EQ(guideline_fixes(runs, check_guidelines(runs), {}, "openmpi").at(0).use, "native");
  EXPECT_THROW((void)guideline_fixes(runs, check_guidelines(runs), {}, "mpich"), Error);
}

}  // namespace
}  // namespace circoll
